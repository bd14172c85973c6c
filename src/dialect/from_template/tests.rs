use super::*;
use crate::engine::{Options, StreamParser, extract};

/// A chat template that writes its calls by `call` and puts `before` and `after` round them.
fn template(before: &str, call: &str, after: &str) -> String {
    format!(
        "{{%- for m in messages -%}}<|{{{{ m.role }}}}|>{{%- if m.reasoning_content -%}}<think>{{{{ m.reasoning_content }}}}</think>\
         {{%- endif -%}}{{{{ m.content }}}}{{%- if m.tool_calls -%}}{before}{{%- for c in m.tool_calls -%}}\
         {{%- set f = c.function -%}}{call}{{%- endfor -%}}{after}{{%- endif -%}}<|end|>{{%- endfor -%}}\
         {{%- if add_generation_prompt -%}}<|assistant|>{{%- endif -%}}"
    )
}

fn derived(before: &str, call: &str, after: &str) -> Dialect {
    let dialect = Dialect::from_chat_template(&template(before, call, after), &TemplateOptions::default()).unwrap();
    assert!(dialect.about.starts_with("Derived"), "{}", dialect.about);
    assert_eq!(dialect.reasoning, [("<think>".to_owned(), "</think>".to_owned())]);
    dialect
}

#[test]
fn shapes_are_derived() {
    let json = r#"{{ '{"name": "' }}{{ f.name }}{{ '", "arguments": ' }}{{ f.arguments | tojson }}{{ '}' }}"#;
    let d = derived("", &format!("<make_call>{json}</make_call>"), "");
    assert_eq!(d.calls, ["<make_call> {json} </make_call>"]);
    let d = derived("", &format!("<call id=\"{{{{ c.id }}}}\">{json}</call>"), "");
    assert_eq!(d.calls, ["<call {@id=id}> {json} </call>"]);
    let d = derived("<calls>", "<one>{{ f.name }}<with>{{ f.arguments | tojson }}</one>", "</calls>");
    assert_eq!(d.calls, ["<one>{name}<with> {arguments} </one>"]);
    assert_eq!(d.sections, [("<calls>".to_owned(), "</calls>".to_owned())]);
    let raw = "{%- for k, v in f.arguments | items -%}<p k=\"{{ k }}\">{{ v if v is string else v | tojson }}</p>{%- endfor -%}";
    let d = derived("<calls>", &format!("<run tool=\"{{{{ f.name }}}}\">{raw}</run>"), "</calls>");
    assert_eq!(d.calls, ["<run {@tool=name}> {parameters} </run>"]);
    assert_eq!(d.parameters, ["<p {@k=key}>{value}</p>"]);
    let d = derived("", "[CALL]{{ f.name }}[ID]{{ c.id }}[ARGS]{{ f.arguments | tojson }}", "");
    assert_eq!(d.calls, ["[CALL]{name}[ID]{id}[ARGS] {arguments}"]);
}

/// Where a value that is an object is written as JSON, tags in a text are text.
#[test]
fn tags_named_after_parameters_hold_texts() {
    let members = "{%- for k, v in f.arguments | items -%}<{{ k }}>{{ v if v is string else v | tojson }}</{{ k }}>{%- endfor -%}";
    let d = derived("", &format!("<fn {{{{ f.name }}}}>{members}</fn>"), "");
    assert_eq!(d.calls, ["<fn {name}> {parameters} </fn>"]);
    assert_eq!(d.parameters, ["<{key}>{value}</{key}>"]);
    let d = derived("<calls>", &format!("<call><to>{{{{ f.name }}}}</to>{members}</call>"), "</calls>");
    assert_eq!(d.calls, ["<call><to>{name}</to> {parameters} </call>"]);
    let nested = "{%- macro all(o) -%}{%- for k, v in o | items -%}<{{ k }}>{%- if v is mapping -%}{{ all(v) }}{%- else -%}{{ v }}\
                  {%- endif -%}</{{ k }}>{%- endfor -%}{%- endmacro -%}";
    let source = template("", "<fn {{ f.name }}>{{ all(f.arguments) }}</fn>", "");
    let d = Dialect::from_chat_template(&format!("{nested}{source}"), &TemplateOptions::default());
    assert_eq!(d.map(|d| d.calls).map_err(|e| e.to_string()), Ok(vec!["<fn {name}> {elements} </fn>".to_owned()]));
}

/// What ends the head of a call is no part of its first parameter, whatever signs the markers have, in one line or in several.
#[test]
fn a_head_ends_with_its_own_bracket() {
    let signs = ["[ ]", "[[ ]]", "<< >>", "( )", "| |", "# #", "@@ @@", "« »", "⟨ ⟩", "{{'{{'}} {{'}}'}}"];
    let tools = Arc::new(ToolSet::from_values(verify::tools().as_array().unwrap()).unwrap());
    for (signs, apart) in signs.iter().flat_map(|signs| [(signs, ""), (signs, "{{ '\n' }}")]) {
        let (o, c) = signs.split_once(' ').unwrap();
        let member = format!("{o}arg={{{{ k }}}}{c}{{{{ v }}}}{o}/arg{c}{apart}");
        let members = format!("{{%- for k, v in f.arguments | items -%}}{member}{{%- endfor -%}}");
        let d = derived("", &format!("{o}call={{{{ f.name }}}}{c}{apart}{members}{o}/call{c}"), "");
        let [o, c] = [o, c].map(|sign| sign.strip_prefix("{{'").and_then(|s| s.strip_suffix("'}}")).unwrap_or(sign));
        let written = o.replace('{', "{{");
        assert_eq!(d.calls, [format!("{written}call={{name}}{c} {{parameters}} {written}/call{c}")]);
        assert_eq!(d.parameters, [format!("{written}arg={{key}}{c}{{value}}{written}/arg{c}")]);
        let dialects = Dialects::of(d).unwrap();
        let statuses = |text: &str| {
            let turn = extract(text, &dialects, Some(&tools), &Options::default());
            turn.tool_calls.iter().map(|call| call.status.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(statuses(&format!("{o}call=get_weather{c}\n")), ["incomplete"], "{signs}");
        let cut = format!("{o}call=get_weather{c}\n{o}arg=city{c}Rome{o}/arg{c}\n{o}arg=days");
        assert_eq!(statuses(&cut), ["incomplete"], "{signs}");
        // Quotation marks of its own round a call do not quote it.
        let call = format!("{o}call=get_weather{c}{o}arg=city{c}Rome{o}/arg{c}{o}/call{c}");
        assert_eq!(statuses(&call.repeat(3)), ["ok"; 3], "{signs}");
    }
}

/// Templates that ask for a system message, or write arguments as a text of JSON always.
#[test]
fn what_templates_ask_for_is_tried() {
    let call = "<call>{{ f | tojson }}</call>";
    let needs = "{%- if messages[0].role != 'system' -%}{{ raise_exception('a system message') }}{%- endif -%}";
    let skips = template("", call, "").replace("in messages", "in messages[1:] if messages[0]['role'] == 'system'");
    for source in [format!("{needs}{}", template("", call, "")), skips] {
        let dialect = Dialect::from_chat_template(&source, &TemplateOptions::default()).unwrap();
        assert_eq!(dialect.calls, ["<call> {json} </call>"]);
    }
    let twice =
        r#"{{ '{"name": "' }}{{ f.name }}{{ '", "arguments": ' }}{{ (f.arguments | tojson) | tojson }}{{ '}' }}"#;
    let d = derived("", &format!("<call>{twice}</call>"), "");
    assert_eq!(d.calls, ["<call> {json} </call>"]);
    let members = "{%- for k, v in f.arguments | items -%}<k>{{ k }}</k><v>{{ v | tojson }}</v>{%- endfor -%}";
    let source = template("", &format!("<call>{{{{ f.name }}}}{members}</call>"), "");
    let error = Dialect::from_chat_template(&source, &TemplateOptions::default()).unwrap_err();
    assert!(error.message.contains("every value is written as JSON"), "{error}");
}

/// What closes the reasoning that the prompt may have opened stands before every other answer: it is the prompt's.
#[test]
fn a_block_that_the_prompt_opened_is_no_part_of_a_call() {
    let call = "<call>{{ f.name }}{%- for k, v in f.arguments | items -%}<k>{{ k }}</k><v>{{ v if v is string else v | tojson }}</v>\
                {%- endfor -%}</call>";
    for blanks in ["", "          "] {
        let source = template("", call, "").replace(
            "{%- endif -%}{{ m.content }}",
            &format!("{{%- elif m.role == 'assistant' -%}}</think>{blanks}{{%- endif %}}{blanks}{{{{ m.content }}}}"),
        );
        let dialect = Dialect::from_chat_template(&source, &TemplateOptions::default()).unwrap();
        assert_eq!(dialect.calls, ["<call>{name} {parameters} </call>"]);
        assert_eq!(dialect.parameters, ["<k>{key}</k> <v>{value}</v>"]);
        assert!(dialect.sections.is_empty(), "{:?}", dialect.sections);
        assert!(!dialect.example.contains("think"), "{}", dialect.example);
    }
}

/// What ends a turn with calls otherwise than one without is no part of what closes them: servers take it away.
#[test]
fn the_end_of_a_turn_closes_no_call() {
    let ends = |source: String| source.replace("<|end|>", "{{ '<|eoc|><|next|>' if m.tool_calls else '<|eot|>' }}");
    let list = "<calls>{{ m.tool_calls | map(attribute='function') | list | tojson }}</calls>";
    let one = "<call>{{ f.name }}<args>{{ f.arguments | tojson }}</call>";
    let rows = [
        (template("", "{%- if loop.first -%}LIST{%- endif -%}", "").replace("LIST", list), "<calls>"),
        (template("<calls>", one, "</calls>"), "<calls>"),
        (template("<|calls_begin|>", one, "<|calls_end|>"), "<|calls_begin|>"),
    ];
    for (source, opener) in rows {
        let d = Dialect::from_chat_template(&ends(source), &TemplateOptions::default()).unwrap();
        assert!(
            d.tokens.contains(&"<|eoc|>".to_owned()) && d.tokens.contains(&"<|next|>".to_owned()),
            "{:?}",
            d.tokens
        );
        let call = if d.sections.is_empty() {
            r#"[{"name": "ping", "arguments": {}}]</calls>"#.to_owned()
        } else {
            format!("<call>ping<args>{{}}</call>{}", d.sections[0].1)
        };
        assert!(!call.contains("eoc"), "{call}");
        let (text, dialects) = (format!("{opener}{call} and more"), Dialects::of(d).unwrap());
        let turn = extract(&text, &dialects, None, &Options::default());
        assert_eq!((turn.tool_calls[0].status.as_str(), turn.content.trim()), ("ok", "and more"), "{text}");
    }
}

/// Of the white space round a value only what the template writes there is no part of it.
#[test]
fn one_blank_round_a_value_is_one() {
    let member = "{%- for k, v in f.arguments | items -%}{{ '<p n=\"' ~ k ~ '\"> ' ~ v ~ ' </p>' }}{%- endfor -%}";
    let d = derived("", &format!("<t n=\"{{{{ f.name }}}}\">{member}</t>"), "");
    assert_eq!(d.trim, crate::dialect::Trim::Blank);
    let dialects = Dialects::of(d).unwrap();
    for (written, value) in [("     return 1\n ", "    return 1\n"), (" a ", "a"), ("a", "a"), ("a ", "a "), ("  ", "")]
    {
        let text = format!("<t n=\"f\"><p n=\"a\">{written}</p></t>");
        let turn = extract(&text, &dialects, None, &Options::default());
        assert_eq!(turn.tool_calls[0].arguments.to_value(), json!({"a": value}));
        let (mut parser, mut events) = (StreamParser::new(dialects.clone(), None, Options::default()), Vec::new());
        text.chars().for_each(|c| parser.feed(c.encode_utf8(&mut [0; 4]), &mut events));
        assert_eq!(parser.finish(&mut events).tool_calls[0].arguments.to_value(), json!({"a": value}));
    }
}

/// Words that stand behind calls close their section, and elsewhere they are what anybody says.
#[test]
fn a_section_may_close_in_words() {
    let d = derived("Now calling:", "<c>{{ f.name }}|{{ f.arguments | tojson }}</c>", "Done.");
    assert_eq!(d.sections, [("Now{ }calling:".to_owned(), "Done.".to_owned())]);
    let dialects = Dialects::of(d).unwrap();
    for (text, content, calls) in [
        ("All is Done.\nBye.", "All is Done.\nBye.", 0),
        ("Hi. Now calling:<c>f|{}</c><c>f|{}</c>Done.", "Hi.", 2),
        ("Now calling:<c>f|{}</c> Sent. All is Done.", "Sent. All is Done.", 1),
    ] {
        let turn = extract(text, &dialects, None, &Options::default());
        assert_eq!((turn.content.trim(), turn.tool_calls.len()), (content, calls), "{text}");
    }
}

/// Objects with keys that calls of no other dialect have, a type before the key, entities, and tags named after tools.
#[test]
fn what_is_odd_in_a_call_is_derived() {
    let read = |d: Dialect, text: &str| {
        let tools = ToolSet::from_values(verify::tools().as_array().unwrap()).unwrap();
        let turn = extract(text, &Dialects::of(d).unwrap(), Some(&tools), &Options::default());
        let calls = turn.tool_calls.iter().map(|call| (call.status.as_str(), call.arguments.to_value()));
        calls.collect::<Vec<_>>()
    };
    let own = "<do>{{ '{\"recipient\": \"' ~ f.name ~ '\", \"data\": ' ~ (f.arguments | tojson) ~ '}' }}</do>";
    let d = derived("", own, "");
    assert_eq!(d.calls, [r#"<do>{{"recipient": "{name}", "data": {arguments} }</do>"#]);
    let texts = [r#"<do>{"recipient": "ping", "data": {}}</do>"#, r#"<do>{"recipient":"ping","data":{}}</do>"#];
    for text in texts {
        assert_eq!(read(d.clone(), text), [("ok", json!({}))]);
    }
    let member = |of: &str| format!("{{%- for k, v in f.arguments | items -%}}{of}{{%- endfor -%}}");
    let typed = member(
        "{{ '<p type=\"' ~ ('str' if v is string else 'json') ~ '\" key=\"' ~ k ~ '\">' }}{{ v if v is string else v | tojson }}</p>",
    );
    let d = derived("", &format!("<t n=\"{{{{ f.name }}}}\">{typed}</t>"), "");
    assert_eq!(d.parameters, ["<p {@type=type key=key}>{value}</p>"]);
    let text = r#"<t n="get_weather"><p type="str" key="city">3</p><p type="json" key="days">3</p></t>"#;
    assert_eq!(read(d, text), [("ok", json!({"city": "3", "days": 3}))]);
    let d = derived("", &format!("<t n=\"{{{{ f.name }}}}\">{}</t>", member("<p k=\"{{ k }}\">{{ v | e }}</p>")), "");
    assert!(d.entities);
    let text = r#"<t n="get_weather"><p k="city">a/&lt;b&gt; &amp; &#39;c&#34;</p></t>"#;
    assert_eq!(read(d, text), [("ok", json!({"city": "a/<b> & 'c\""}))]);
    let tags = member("{{ '<' ~ k ~ '>' }}{{ v }}{{ '</' ~ k ~ '>' }}");
    let named = format!("{{{{ '\\n' if m.content else '' }}}}<{{{{ f.name }}}}>{tags}</{{{{ f.name }}}}>");
    let d = derived("", &named, "");
    assert_eq!(
        (d.bare.as_slice(), d.calls[0].as_str()),
        (&[crate::dialect::Bare::Elements][..], "<{name}> {parameters} </{name}>")
    );
    let text = "<get_weather><city>Rome</city></get_weather>";
    assert_eq!(read(d, text), [("ok", json!({"city": "Rome"}))]);
}

/// A template that writes content and calls as two turns is read as a row that knows them, if there is one.
#[test]
fn a_row_that_knows_both_turns_is_taken() {
    let source = "{%- for m in messages -%}<|im_start|>{{ m.role }}{%- if m.content or not m.tool_calls -%}{{ '\n' }}{{ m.content }}<|im_end|>                  {%- endif -%}{%- if m.tool_calls -%}{%- if m.content -%}{{ '\n<|im_start|>assistant' }}{%- endif -%}                  {{ ' -> tool/function_call\n' }}{{ m.tool_calls | map(attribute='function') | list | tojson }}<|im_end|><|stop|>                  {%- endif -%}{{ '\n' }}{%- endfor -%}{%- if add_generation_prompt -%}<|im_start|>assistant{%- endif -%}";
    let dialect = Dialect::from_chat_template(source, &TemplateOptions::default()).unwrap();
    assert!(dialect.about.contains("\"hyperclovax\""), "{} {:?}", dialect.about, dialect.calls);
}

/// What begins every answer is the prompt's, however much white space the template leaves in it.
#[test]
fn blanks_in_what_begins_an_answer_tell_nothing() {
    let call = "<one>{{ f.name }}<with>{{ f.arguments | tojson }}</one>";
    let source = template("<calls>", call, "</calls>").replace("<|{{ m.role }}|>", "<|{{ m.role }}|>{{ begun }}").replace(
        "{{ begun }}",
        "{%- if m.role == 'assistant' -%}{{ '<|begin|></think>' if m.tool_calls else '<|begin|>   </think>' }}{{ '   ' }}{%- endif -%}",
    );
    let dialect = Dialect::from_chat_template(&source, &TemplateOptions::default()).unwrap();
    assert_eq!(dialect.sections, [("<calls>".to_owned(), "</calls>".to_owned())]);
}

/// Arguments as a text are what this template writes as it gets them, and no more: a model writes them as it does objects.
#[test]
fn arguments_as_an_object_tell_more_than_as_a_text() {
    let members = "{%- for k, v in f.arguments | items -%}{{ k }}:{%- if v is string -%}<|\"|>{{ v }}<|\"|>{%- else -%}\
                   {{ v | tojson }}{%- endif -%}{%- if not loop.last -%},{%- endif -%}{%- endfor -%}";
    let (braces, none) = (["{{ '{' }}", "{{ '}' }}"], ["", ""]);
    for ([open, close], [begin, end]) in [(braces, none), (none, braces)] {
        let call = format!(
            "<|tool_call>call:{{{{ f.name }}}}{open}{{%- if f.arguments is mapping -%}}{begin}{members}{end}{{%- else -%}}\
             {{{{ f.arguments }}}}{{%- endif -%}}{close}<tool_call|>"
        );
        let dialect = Dialect::from_chat_template(&template("", &call, ""), &TemplateOptions::default()).unwrap();
        assert!(dialect.about.contains("\"gemma4\""), "{} {:?}", dialect.about, dialect.calls);
    }
}

#[test]
fn what_is_not_understood_says_why() {
    let rows = [
        ("{% if %}", "cannot be read"),
        ("{%}", "cannot be read"),
        ("{% for m in messages %}{{ m.content }}{% endfor %}", "ignores tool_calls"),
        ("{{ raise_exception('no tools here') }}", "no tools here"),
        ("{% for m in messages %}{{ '[INST]' + m.content }}{% endfor %}", "ignores tool_calls"),
        ("{% for i in range(99999) %}{% for j in range(99999) %}{{ i }}{% endfor %}{% endfor %}", "rendered"),
        (
            "{% set ns = namespace(s='ab') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
            "too long",
        ),
        ("{% macro f(s) %}{{ f(s ~ s) }}{% endmacro %}{{ f('abababababababababab') }}", "rendered"),
    ];
    for (source, why) in rows {
        let error = Dialect::from_chat_template(source, &TemplateOptions::default()).unwrap_err();
        assert!(error.message.contains(why), "{source}: {error}");
    }
    let odd = template("", "({{ f.name }}{% for k, v in f.arguments | items %} {{ k }} {{ v }}{% endfor %})", "");
    let error = Dialect::from_chat_template(&odd, &TemplateOptions::default()).unwrap_err();
    assert!(error.message.contains("not understood") && error.message.contains("one call is written"), "{error}");
}

/// What becomes of every template of a folder, as a table.
/// `TOOLGLOT_TEMPLATES=folder cargo test --features templates measure -- --ignored --nocapture`
#[test]
#[ignore = "needs a folder of chat templates"]
#[allow(clippy::print_stdout)]
fn measure() {
    let Ok(folder) = std::env::var("TOOLGLOT_TEMPLATES") else { return };
    let only = std::env::var("TOOLGLOT_ONLY").unwrap_or_default();
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    let (mut derived, mut fitted, mut failed, mut total) = (0, 0, 0, (0, 0));
    for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "jinja")) {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        if !name.contains(&only) {
            continue;
        }
        let source = std::fs::read_to_string(file).unwrap();
        let begun = std::time::Instant::now();
        let result = Dialect::from_chat_template(&source, &TemplateOptions { name: &name, ..Default::default() });
        let ms = begun.elapsed().as_millis();
        if let Ok(dialect) = &result {
            let (read, all, wrong) = stress(&source, dialect);
            total = (total.0 + read, total.1 + all);
            println!("{read}/{all} {wrong:?}");
        }
        match result {
            Ok(d) if d.about.starts_with("Derived") => {
                derived += 1;
                println!(
                    "derived  {name} {ms} ms: {:?} {:?} {:?} {:?}",
                    d.calls, d.parameters, d.sections, d.reasoning
                );
            }
            Ok(d) => {
                fitted += 1;
                println!("fitted   {name} {ms} ms: {}", d.about);
            }
            Err(e) => {
                failed += 1;
                println!("FAILED   {name} {ms} ms: {e}");
            }
        }
    }
    println!("hard probes read back: {} of {}", total.0, total.1);
    println!("derived {derived}, fitted {fitted}, failed {failed}");
}

/// How many probes, hard ones included, a dialect reads back.
fn stress(source: &str, dialect: &Dialect) -> (usize, usize, Vec<(&'static str, String)>) {
    let renderer = Renderer::new(source).unwrap();
    let prober = Prober {
        renderer: &renderer,
        tools: derive::tools(),
        spelling: Spelling::all().next().unwrap(),
        bos: "",
        eos: NO_EOS,
    };
    let spelling = usable(&prober).unwrap()[0];
    let mut prober = prober.with(with_reasoning(&prober.with(spelling)));
    prober.tools = verify::tools();
    let probes = verify::probes().into_iter().chain(verify::hard_probes()).collect();
    let samples = verify::samples(&Derivation::new(&prober), probes);
    let tools = Arc::new(ToolSet::from_values(prober.tools.as_array().unwrap()).unwrap());
    let failures = verify::verify(dialect, &Dialects::of(dialect.clone()).unwrap(), &tools, &samples);
    let wrong = failures.iter().map(|f| (f.name, f.why.clone())).collect();
    (samples.len() - failures.len(), samples.len(), wrong)
}
