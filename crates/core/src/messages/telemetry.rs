//! What is wrong with the configuration of the telemetry.

messages! {
    unknown_key() { "不認得這個設定", "不认得这个设置", "unknown key" }
    missing() {
        "沒有設定；應是 collector 的網址，例如 http://127.0.0.1:4318",
        "没有设置；应是 collector 的网址，例如 http://127.0.0.1:4318",
        "is not set; use the address of a collector, such as http://127.0.0.1:4318"
    }
    not_an_object() { "必須是物件", "必须是对象", "must be an object" }
    bad_address() {
        "必須是 http(s) 網址，不含帳號、查詢參數與 /v1/traces",
        "必须是 http(s) 网址，不含账号、查询参数与 /v1/traces",
        "must be an http(s) address, without a user, a query or /v1/traces"
    }
    bad_header_name() { "不能作為 HTTP 標頭的名稱", "不能作为 HTTP 标头的名称", "is not a valid HTTP header name" }
    own_header() { "由 Overtone 自行設定", "由 Overtone 自行设置", "is set by Overtone itself" }
    bad_header_value() {
        "必須是一行文字或 ${{變數}}",
        "必须是一行文字或 ${{变量}}",
        "must be one line of text or ${{VARIABLE}}"
    }
    no_variable(name: &str) {
        "環境變數 {name} 沒有設定（由 hook 啟動的 dashboard 只看得到 hook 的環境變數）",
        "环境变量 {name} 没有设置（由 hook 启动的 dashboard 只看得到 hook 的环境变量）",
        "the variable {name} is not set (a dashboard started by a hook sees only the hook's environment)"
    }
    unencrypted() {
        "標頭會以未加密的連線傳送",
        "标头会以未加密的连接发送",
        "the headers are sent over an unencrypted connection"
    }
}
