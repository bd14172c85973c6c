//! What routes can do, by the same cases as `test_capability.py` and `test_config.py`.
use serde_json::Value;
use toolglot::exchange::capability::{
    Capability, Layer, Observed, Outcome, Probe, Route, ServerInfo, Store, Support, capabilities, refused,
};
use toolglot::exchange::config::Config;
use toolglot::exchange::mode::{Mode, modes};

fn cases(name: &str) -> Vec<Value> {
    let path = format!("{}/tests/data/capabilities/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("no cases");
    text.lines().map(|line| serde_json::from_str(line).expect("a case is no JSON")).collect()
}

fn text<'a>(case: &'a Value, name: &str) -> Option<&'a str> {
    case.get(name).and_then(Value::as_str)
}

#[test]
fn tables() {
    for case in cases("routes") {
        let route = Route::new(text(&case, "base_url"), text(&case, "model").unwrap());
        let found = capabilities(&route, None, 0);
        assert_eq!(found.provider.map(|provider| provider.name()), text(&case, "provider"), "{case}");
        for (name, wanted) in case["expect"].as_object().unwrap() {
            let finding = found.get(Capability::from_word(name).unwrap());
            let seen = [finding.value.as_str(), finding.source.layer().as_str()];
            assert_eq!(Value::from(seen.to_vec()), *wanted, "{name} of {case}");
            assert_eq!(finding.date.is_none(), finding.source.layer() == Layer::Default, "{name} of {case}");
        }
    }
}

#[test]
fn what_servers_tell_survives_being_stored() {
    for case in cases("server_info") {
        let model = text(&case, "model").unwrap();
        let info = ServerInfo::read(&case["answer"], model);
        if case.get("error").is_some() {
            assert!(info.is_err(), "{case}");
            continue;
        }
        let info = info.unwrap();
        assert_eq!(Some(info.server.as_str()), text(&case, "server"), "{case}");
        assert_eq!(info.context_size, case["context"].as_u64(), "{case}");
        let route = Route::new(None, model);
        let (mut store, mut other) = (Store::default(), Store::default());
        store.tell(&route, info.clone(), 7);
        other.load(&route, &store.dump(&route).unwrap()).unwrap();
        for capability in Capability::ALL {
            let wanted = case["expect"].get(capability.as_str()).and_then(Value::as_str);
            assert_eq!(info.get(*capability).map(Support::as_str), wanted, "{} of {case}", capability.as_str());
            assert_eq!(
                capabilities(&route, Some(&store), 7).get(*capability),
                capabilities(&route, Some(&other), 7).get(*capability)
            );
        }
    }
}

#[test]
fn learning() {
    for case in cases("learned") {
        let route = Route::new(Some("http://h/v1"), "m");
        let mut store = Store::default();
        for event in case["events"].as_array().unwrap() {
            let outcome = Outcome::ALL.iter().find(|outcome| event[1] == outcome.as_str()).unwrap();
            store.record(&route, Capability::NativeTools, *outcome, event[0].as_u64().unwrap());
        }
        let finding = capabilities(&route, Some(&store), case["at"].as_u64().unwrap()).get(Capability::NativeTools);
        let learned = Some(finding.value.as_str()).filter(|_| finding.source.layer() == Layer::Learned);
        assert_eq!(learned, text(&case, "expect"), "{case}");
    }
}

#[test]
fn refusals() {
    for case in cases("refusals") {
        let format = text(&case, "format").and_then(Capability::from_word);
        let status = u16::try_from(case["status"].as_u64().unwrap()).unwrap();
        let seen = refused(status, text(&case, "body").unwrap(), format).map(Capability::as_str);
        assert_eq!(seen, text(&case, "expect"), "{case}");
    }
}

#[test]
fn settings() {
    for case in cases("configs") {
        match (Config::read(&case["config"]), text(&case, "error")) {
            (Err(error), Some(place)) => assert_eq!(error.place, place, "{case}"),
            (Ok(config), None) => {
                let model = config.model(text(&case, "model").unwrap());
                if let Some(wanted) = case["expect"].get("preferred_modes") {
                    let seen: Vec<_> = model.preferred_modes.iter().map(|mode| mode.as_str()).collect();
                    assert_eq!(Value::from(seen), *wanted, "{case}");
                }
            }
            (read, _) => panic!("{case}: {read:?}"),
        }
    }
}

/// A server that takes everything and does none of it: what is left in the end is the text.
#[test]
fn a_route_that_ignores_all_ends_in_text() {
    let route = Route::new(Some("http://localhost:8000/v1"), "m");
    let (mut store, mut probe) = (Store::default(), Probe::new(route.clone(), true));
    let answer = r#"{"choices": [{"message": {"content": "Hello there!"}, "finish_reason": "stop"}]}"#;
    let mut requests = 0;
    while probe.next().is_some() {
        requests += 1;
        for seen in probe.answer(200, answer) {
            match seen {
                Observed::ServerInfo(info) => store.tell(&route, info, 0),
                Observed::Outcome(capability, outcome) => store.record(&route, capability, outcome, 0),
            }
        }
    }
    assert_eq!(requests, 3);
    let found = capabilities(&route, Some(&store), 0);
    assert_eq!(modes(Mode::ALL, &found), [Mode::JsonObject, Mode::Text]);
}
