//! What the command line says. Errors follow one form: a lowercase fragment, the path, then a hint.

messages! {
    no_session_hint() {
        "請在 Claude Code 的 Bash 中執行，或以 --session ID 指定（overtone sessions list 可列出）",
        "请在 Claude Code 的 Bash 中执行，或以 --session ID 指定（overtone sessions list 可列出）",
        "run it inside Claude Code's Bash, or name one with --session ID (overtone sessions list shows them)"
    }
}
