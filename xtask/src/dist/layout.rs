//! Which parts of the program belong side by side, as a script for the linker (GNU ld and those like it).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

/// Every function and every constant is a section of its own, named after it.
const CODE: [&str; 2] = [".text.", ".text.unlikely."];
const CONSTANT: &str = ".rodata";

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout {
    functions: Vec<String>,
    constants: Vec<String>,
}

impl Layout {
    /// The functions, and the constants that they and these constants refer to. The references are as
    /// `objdump -r` prints them.
    pub(super) fn of(functions: &[String], references: &str) -> Self {
        let references = by_section(references);
        let mut reached = Reached { references: &references, seen: BTreeSet::new(), constants: Vec::new() };
        for section in functions.iter().flat_map(|name| sections_of(name)) {
            reached.follow(&section);
        }
        let constants = reached.constants.into_iter().map(str::to_owned).collect();
        Self { functions: functions.to_vec(), constants }
    }

    /// Goes beside what the linker does by itself, and takes what it names out of that.
    pub(super) fn script(&self) -> String {
        let code: Vec<_> = self.functions.iter().flat_map(|name| sections_of(name)).collect();
        let mut script = String::new();
        together(&mut script, ".text.of_hooks", &code, "BEFORE .text");
        together(&mut script, ".rodata.of_hooks", &self.constants, "AFTER .rodata");
        script
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (functions, constants) = (self.functions.len(), self.constants.len());
        write!(f, "what hooks use is side by side: {functions} functions, {constants} constants")
    }
}

fn sections_of(function: &str) -> [String; 2] {
    CODE.map(|prefix| format!("{prefix}{function}"))
}

fn together(script: &mut String, name: &str, sections: &[String], place: &str) {
    let _ = writeln!(script, "SECTIONS {{\n  {name} : {{");
    for section in sections {
        let _ = writeln!(script, "    *(\"{section}\")");
    }
    let _ = writeln!(script, "  }}\n}}\nINSERT {place};");
}

struct Reached<'a> {
    references: &'a BTreeMap<&'a str, Vec<&'a str>>,
    seen: BTreeSet<&'a str>,
    constants: Vec<&'a str>,
}

impl Reached<'_> {
    fn follow(&mut self, section: &str) {
        let references = self.references;
        for target in references.get(section).into_iter().flatten() {
            if target.starts_with(CONSTANT) && self.seen.insert(target) {
                self.constants.push(target);
                self.follow(target);
            }
        }
    }
}

/// What each section refers to, in its order.
fn by_section(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut sections = BTreeMap::new();
    let mut current: Option<&mut Vec<&str>> = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("RELOCATION RECORDS FOR [") {
            let name = name.trim_end_matches(':').trim_end_matches(']');
            current = Some(sections.entry(name).or_default());
        } else if let (Some(targets), Some(target)) = (&mut current, target(line)) {
            targets.push(target);
        }
    }
    sections
}

/// The line is `000000000000000b R_X86_64_32       .rodata..Lanon.1+0x0000000000000008`.
fn target(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let (place, value) = (words.next()?, words.nth(1)?);
    place.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
    let offset = value.rfind("+0x").or_else(|| value.rfind("-0x"));
    Some(&value[..offset.unwrap_or(value.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFERENCES: &str = "
overtone.o:     file format elf64-x86-64

RELOCATION RECORDS FOR [.text.hot]:
OFFSET           TYPE              VALUE
000000000000000b R_X86_64_32       .bss.lock
0000000000000010 R_X86_64_PLT32    .text.cold-0x0000000000000004
000000000000005a R_X86_64_32S      .rodata..Lanon.1+0x0000000000000008
000000000000006a R_X86_64_32       .rodata..Lanon.1


RELOCATION RECORDS FOR [.text.unlikely.seldom]:
OFFSET           TYPE              VALUE
0000000000000001 R_X86_64_32       .rodata..Lanon.4

RELOCATION RECORDS FOR [.rodata..Lanon.1]:
OFFSET           TYPE              VALUE
0000000000000000 R_X86_64_64       .rodata..Lanon.2
0000000000000008 R_X86_64_64       .rodata..Lanon.1
0000000000000010 R_X86_64_64       .text.cold

RELOCATION RECORDS FOR [.text.cold]:
OFFSET           TYPE              VALUE
0000000000000001 R_X86_64_32       .rodata..Lanon.3
";

    #[test]
    fn constants_are_reached_from_the_functions_that_are_used_and_from_each_other() {
        let layout = Layout::of(&["hot".to_owned(), "seldom".to_owned()], REFERENCES);
        assert_eq!(layout.constants, [".rodata..Lanon.1", ".rodata..Lanon.2", ".rodata..Lanon.4"]);
        assert_eq!(Layout::of(&["unknown".to_owned()], REFERENCES).constants, [""; 0]);
    }

    #[test]
    fn the_script_names_both_places_of_a_function() {
        let layout = Layout { functions: vec!["f$LT$".to_owned()], constants: vec![".rodata.c".to_owned()] };
        let script = "SECTIONS {\n  .text.of_hooks : {\n    *(\".text.f$LT$\")\n    *(\".text.unlikely.f$LT$\")\n  }\n}\n\
                      INSERT BEFORE .text;\nSECTIONS {\n  .rodata.of_hooks : {\n    *(\".rodata.c\")\n  }\n}\n\
                      INSERT AFTER .rodata;\n";
        assert_eq!(layout.script(), script);
    }
}
