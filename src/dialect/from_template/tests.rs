use super::*;

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
    let (mut derived, mut fitted, mut failed) = (0, 0, 0);
    for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "jinja")) {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        if !name.contains(&only) {
            continue;
        }
        let source = std::fs::read_to_string(file).unwrap();
        let begun = std::time::Instant::now();
        let result = Dialect::from_chat_template(&source, &TemplateOptions { name: &name, ..Default::default() });
        let ms = begun.elapsed().as_millis();
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
    println!("derived {derived}, fitted {fitted}, failed {failed}");
}
