//! The fleet: many machines, one view.

messages! {
    // The settings.
    not_an_object() { "必須是物件", "必须是对象", "must be an object" }
    unknown_key() { "沒有這個設定", "没有这个设置", "no such setting" }
    missing() { "缺少", "缺少", "is missing" }
    bad_address() {
        "必須是 nats://主機:連接埠 或 tls://…（可用逗號列出多個）",
        "必须是 nats://主机:端口 或 tls://…（可用逗号列出多个）",
        "must be nats://host:port or tls://… (several with commas between)"
    }
    bad_prefix() {
        "只能有英數字、- 和 _，以點分隔",
        "只能有英文字母、数字、- 和 _，以点分隔",
        "letters, digits, - and _ only, with dots between"
    }
    bad_share() { "必須是 state 或 full", "必须是 state 或 full", "must be state or full" }
    bad_number() { "不是可用的數字", "不是可用的数字", "is not a number that can be used" }
    not_a_text() { "必須是文字", "必须是文字", "must be a text" }
    half_identity() {
        "certificate 和 key 必須一起設定",
        "certificate 和 key 必须一起设置",
        "certificate and key belong together"
    }

    // Answers to orders from other machines.
    no_such_session() {
        "這台機器沒有這個工作階段",
        "这台机器没有这个会话",
        "there is no such session on this machine"
    }
    not_its_owner(name: &str) {
        "這個工作階段現在屬於 {name}",
        "这个会话现在属于 {name}",
        "the session belongs to {name} now"
    }
    order_too_new() {
        "指令來自較新的版本；請更新這台機器上的 Overtone",
        "指令来自较新的版本；请更新这台机器上的 Overtone",
        "the order is from a later version; update Overtone on this machine"
    }
}
