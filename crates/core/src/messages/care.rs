//! What `ccc` says when it looks after its set-up: `validate`, `edit`, `migrate` and `doctor`.

messages! {
    // Asking providers: what came of it, and what to do.
    head_result() { "結果", "结果", "Result" }
    head_time() { "時間", "时间", "Time" }
    milliseconds(count: u64) { "{count} ms", "{count} ms", "{count} ms" }
    asking(done: usize, all: usize) { "{done}/{all} 詢問中…", "{done}/{all} 询问中…", "{done}/{all} checking…" }
    server_said(text: &str) { "伺服器說：{text}", "服务器说：{text}", "the server says: {text}" }
    explained(name: &str, what: &str) { "{name}：{what}", "{name}：{what}", "{name}: {what}" }
    advice(hint: &str) { "  建議：{hint}", "  建议：{hint}", "  hint: {hint}" }
    unusable(count: usize) { "{count} 個 provider 無法使用", "{count} 个 provider 无法使用", "{count} providers cannot be used", count == 1: "{count} provider cannot be used" }
    unusable_hint() { "依上面的建議修正，再執行一次 ccc validate", "按上面的建议修正，再执行一次 ccc validate", "follow the hints above, then run ccc validate again" }
    works() { "可用", "可用", "ok" }
    limited() { "可用，但目前受到速率或額度限制 (429)", "可用，但目前受到速率或额度限制 (429)", "ok, but rate or quota limited for now (429)" }
    limited_hint() {
        "token 有效；稍候再試，或在 provider 的網站查看額度",
        "token 有效；稍候再试，或在 provider 的网站查看额度",
        "the token works; wait a while, or check the quota on the provider's site"
    }
    key_refused(status: &str) { "token 被拒絕 ({status})", "token 被拒绝 ({status})", "token refused ({status})" }
    key_refused_hint(name: &str) {
        "檢查 token，以及它該是 ANTHROPIC_AUTH_TOKEN 還是 ANTHROPIC_API_KEY：ccc edit {name}",
        "检查 token，以及它该是 ANTHROPIC_AUTH_TOKEN 还是 ANTHROPIC_API_KEY：ccc edit {name}",
        "check the token, and whether it belongs in ANTHROPIC_AUTH_TOKEN or ANTHROPIC_API_KEY: ccc edit {name}"
    }
    no_such_address() { "此網址沒有 Messages API (404)", "此网址没有 Messages API (404)", "no Messages API at this address (404)" }
    no_such_address_hint() {
        "檢查 ANTHROPIC_BASE_URL；claude 會在後面加上 /v1/messages",
        "检查 ANTHROPIC_BASE_URL；claude 会在后面加上 /v1/messages",
        "check ANTHROPIC_BASE_URL; claude adds /v1/messages to it"
    }
    doubled_version_hint() {
        "從 ANTHROPIC_BASE_URL 結尾拿掉 /v1：claude 會自己加上",
        "从 ANTHROPIC_BASE_URL 结尾去掉 /v1：claude 会自己加上",
        "remove /v1 from the end of ANTHROPIC_BASE_URL: claude adds it itself"
    }
    not_the_api() { "有回應，但不是 Messages API", "有回应，但不是 Messages API", "something answers, but not the Messages API" }
    no_such_model(model: &str) { "provider 不認識模型 {model}", "provider 不认识模型 {model}", "the provider does not know the model {model}" }
    no_such_model_hint(name: &str) {
        "在 provider 的 env 設定 ANTHROPIC_MODEL：ccc edit {name}",
        "在 provider 的 env 设置 ANTHROPIC_MODEL：ccc edit {name}",
        "set ANTHROPIC_MODEL in the provider's env: ccc edit {name}"
    }
    rejected(status: &str) { "請求被拒絕 ({status})", "请求被拒绝 ({status})", "request rejected ({status})" }
    rejected_hint() {
        "在 provider 的網站查看帳號與餘額",
        "在 provider 的网站查看账号与余额",
        "check your account and balance on the provider's site"
    }
    server_failed(status: &str) { "provider 發生內部錯誤 ({status})", "provider 发生内部错误 ({status})", "the provider has an internal error ({status})" }
    server_failed_hint() { "稍後再試，或查看 provider 的狀態頁", "稍后再试，或查看 provider 的状态页", "try again later, or check the provider's status page" }
    redirected(to: &str) { "重新導向到 {to}，未跟隨", "重定向到 {to}，未跟随", "redirects to {to}, not followed" }
    redirected_hint() {
        "token 只送到你寫的網址；若信任新網址，把它寫入 ANTHROPIC_BASE_URL",
        "token 只发送到你写的网址；若信任新网址，把它写入 ANTHROPIC_BASE_URL",
        "the token is sent only to the address you set; if you trust the new one, put it in ANTHROPIC_BASE_URL"
    }
    too_late() { "逾時，沒有回應", "超时，没有回应", "timed out" }
    too_late_hint() { "檢查網路與 proxy，或用 --timeout 延長", "检查网络与 proxy，或用 --timeout 延长", "check the network and the proxy, or allow more time with --timeout" }
    tls_certificate() { "TLS：憑證不受信任", "TLS：证书不受信任", "TLS: the certificate is not trusted" }
    tls_certificate_hint() {
        "公司憑證：把 NODE_EXTRA_CA_CERTS 設為 PEM 檔；也檢查主機名稱與系統時間",
        "公司证书：把 NODE_EXTRA_CA_CERTS 设为 PEM 文件；也检查主机名与系统时间",
        "for a company certificate, set NODE_EXTRA_CA_CERTS to a PEM file; also check the host name and the clock"
    }
    tls_handshake() { "TLS：無法建立加密連線", "TLS：无法建立加密连接", "TLS: cannot establish an encrypted connection" }
    tls_handshake_hint() { "網址該用 http:// 嗎？或連接埠不對", "网址该用 http:// 吗？或端口不对", "does the address need http://, or another port?" }
    unknown_host() { "找不到主機 (DNS)", "找不到主机 (DNS)", "unknown host (DNS)" }
    unknown_host_hint() { "檢查 ANTHROPIC_BASE_URL 的拼寫與網路", "检查 ANTHROPIC_BASE_URL 的拼写与网络", "check the spelling of ANTHROPIC_BASE_URL, and the network" }
    connection_refused() { "連線被拒", "连接被拒", "connection refused" }
    connection_refused_hint() { "該位址上沒有程式在執行，或連接埠不對", "该地址上没有程序在运行，或端口不对", "nothing is listening there: start it, or check the port" }
    unreachable() { "無法連線", "无法连接", "unreachable" }
    unreachable_hint() { "檢查網路、proxy 與防火牆", "检查网络、proxy 与防火墙", "check the network, the proxy and the firewall" }
    proxy_failed() { "proxy 無法使用", "proxy 无法使用", "the proxy does not work" }
    proxy_failed_hint() { "檢查 HTTPS_PROXY、HTTP_PROXY、NO_PROXY", "检查 HTTPS_PROXY、HTTP_PROXY、NO_PROXY", "check HTTPS_PROXY, HTTP_PROXY and NO_PROXY" }
    bad_address() { "不是網址", "不是网址", "not a valid address" }
    bad_address_hint() { "ANTHROPIC_BASE_URL 要以 https:// 開頭並含主機名稱", "ANTHROPIC_BASE_URL 要以 https:// 开头并含主机名", "ANTHROPIC_BASE_URL must start with https:// and a host" }
    bad_header() { "token 或自訂標頭含有無法傳送的字元", "token 或自定义标头含有无法发送的字符", "the token or a header contains characters that cannot be sent" }
    bad_header_hint(name: &str) { "重新貼上 token，不含換行：ccc edit {name}", "重新粘贴 token，不含换行：ccc edit {name}", "paste the token again, without line breaks: ccc edit {name}" }
    token_missing() { "沒有設定 token", "没有设置 token", "no token is set" }
    token_missing_hint(name: &str) {
        "設定 ANTHROPIC_AUTH_TOKEN 或 ANTHROPIC_API_KEY：ccc edit {name}",
        "设置 ANTHROPIC_AUTH_TOKEN 或 ANTHROPIC_API_KEY：ccc edit {name}",
        "set ANTHROPIC_AUTH_TOKEN or ANTHROPIC_API_KEY: ccc edit {name}"
    }
    other_route(variable: &str) { "無法查詢：{variable} 不使用此 API", "无法查询：{variable} 不使用此 API", "cannot be checked: {variable} uses another API" }
    other_route_hint() { "用 ccc -p hi 試一次", "用 ccc -p hi 试一次", "try it with ccc -p hi" }
    bad_certificates(variable: &str) { "{variable} 的憑證檔無法使用", "{variable} 的证书文件无法使用", "the file in {variable} contains no usable certificates" }
    bad_certificates_hint(variable: &str) { "把 {variable} 設為 PEM 檔，或 unset 它", "把 {variable} 设为 PEM 文件，或 unset 它", "set {variable} to a PEM file, or unset it" }

    // Editing.
    edit_unchanged(file: &str) { "{file} 沒有變更", "{file} 没有变更", "nothing changed in {file}" }
    edit_saved(file: &str) { "已儲存 {file}", "已保存 {file}", "saved {file}" }
    edit_faulty(count: usize) { "{count} 處錯誤，未儲存", "{count} 处错误，未保存", "not saved: {count} errors", count == 1: "not saved: {count} error" }
    edit_faulty_hint(copy: &str, file: &str) {
        "{file} 維持原樣；你的版本在 {copy}",
        "{file} 保持原样；你的版本在 {copy}",
        "{file} is unchanged; your version is kept in {copy}"
    }
    edit_again() { "再編輯一次？", "再编辑一次？", "edit again?" }
    edit_meanwhile(file: &str) { "檔案在編輯期間被其他程式改過: {file}", "文件在编辑期间被其他程序改过: {file}", "changed by another program in the meantime: {file}" }
    edit_meanwhile_hint(copy: &str) { "你的版本在 {copy}；把它的變更搬過去", "你的版本在 {copy}；把它的变更搬过去", "your version is kept in {copy}; copy your changes over" }
    editor_failed(editor: &str, how: &str) { "編輯器 {editor} 失敗：{how}", "编辑器 {editor} 失败：{how}", "the editor {editor} failed: {how}" }
    editor_failed_hint() { "把 VISUAL 或 EDITOR 設為可用的編輯器；沒有任何更動", "把 VISUAL 或 EDITOR 设为可用的编辑器；没有任何改动", "set VISUAL or EDITOR to a working editor; nothing was changed" }
    editor_failed_kept(copy: &str) { "沒有任何更動；你的版本在 {copy}", "没有任何改动；你的版本在 {copy}", "nothing was changed; your version is kept in {copy}" }

    /// A file to begin with.
    template() {
        r#"{{
  // 每個 provider 一個名稱；其下的 env 是給 claude 的環境變數。改好後存檔並離開，ccc list 會列出。
  // "${{名稱}}" 取自你的環境變數，token 就不必寫在檔案裡。API key 請用 ANTHROPIC_API_KEY。
  "providers": {{
    "kimi": {{
      "env": {{
        "ANTHROPIC_BASE_URL": "https://api.moonshot.cn/anthropic",
        "ANTHROPIC_AUTH_TOKEN": "${{KIMI_KEY}}",
        "ANTHROPIC_MODEL": "kimi-k2"
      }}
    }}
  }},
  // ccc 不帶名稱時使用的 provider
  "current_provider": "kimi",
  // 每個 provider 都套用的 Claude Code 設定
  "settings": {{}},
  // 每次都交給 claude 的參數，例如 --verbose
  "claude_args": [],
  // 結束前先由另一個 claude 審查；ccc schema 列出所有鍵
  "supervisor": {{
    "enabled": false,
    "max_iterations": 10,
    "timeout_seconds": 600
  }}
}}
"#,
        r#"{{
  // 每个 provider 一个名称；其下的 env 是给 claude 的环境变量。改好后保存并退出，ccc list 会列出。
  // "${{名称}}" 取自你的环境变量，token 就不必写在文件里。API key 请用 ANTHROPIC_API_KEY。
  "providers": {{
    "kimi": {{
      "env": {{
        "ANTHROPIC_BASE_URL": "https://api.moonshot.cn/anthropic",
        "ANTHROPIC_AUTH_TOKEN": "${{KIMI_KEY}}",
        "ANTHROPIC_MODEL": "kimi-k2"
      }}
    }}
  }},
  // ccc 不带名称时使用的 provider
  "current_provider": "kimi",
  // 每个 provider 都应用的 Claude Code 设置
  "settings": {{}},
  // 每次都交给 claude 的参数，例如 --verbose
  "claude_args": [],
  // 结束前先由另一个 claude 审查；ccc schema 列出所有键
  "supervisor": {{
    "enabled": false,
    "max_iterations": 10,
    "timeout_seconds": 600
  }}
}}
"#,
        r#"{{
  // One entry per provider; its env is passed to claude. Save and quit the editor, then ccc list shows them.
  // "${{NAME}}" is read from your environment, so tokens need not be in the file. API keys go in ANTHROPIC_API_KEY.
  "providers": {{
    "kimi": {{
      "env": {{
        "ANTHROPIC_BASE_URL": "https://api.moonshot.cn/anthropic",
        "ANTHROPIC_AUTH_TOKEN": "${{KIMI_KEY}}",
        "ANTHROPIC_MODEL": "kimi-k2"
      }}
    }}
  }},
  // The provider ccc uses when none is named
  "current_provider": "kimi",
  // Claude Code settings for every provider
  "settings": {{}},
  // Arguments always passed to claude, such as --verbose
  "claude_args": [],
  // Another claude reviews the work before a session stops; ccc schema lists all keys
  "supervisor": {{
    "enabled": false,
    "max_iterations": 10,
    "timeout_seconds": 600
  }}
}}
"#
    }

    // What is wrong in the file.
    wrong_boolean(key: &str, location: &str) { "`{key}` 必須是 true 或 false: {location}", "`{key}` 必须是 true 或 false: {location}", "`{key}` must be true or false: {location}" }
    wrong_count(key: &str, location: &str) { "`{key}` 必須是 1 以上的整數: {location}", "`{key}` 必须是 1 以上的整数: {location}", "`{key}` must be a whole number, 1 or more: {location}" }
    wrong_amount(key: &str, location: &str) { "`{key}` 必須是大於 0 的數: {location}", "`{key}` 必须是大于 0 的数: {location}", "`{key}` must be a number above 0: {location}" }
    wrong_checks(key: &str, location: &str) {
        "`{key}` 必須是清單，每項為指令、含 command 的物件或 {{\"changes\": true}}: {location}",
        "`{key}` 必须是列表，每项为命令、含 command 的对象或 {{\"changes\": true}}: {location}",
        "`{key}` must be a list of commands, objects with a command, or {{\"changes\": true}}: {location}"
    }
    unknown_key(key: &str, location: &str) { "不認識 `{key}`: {location}", "不认识 `{key}`: {location}", "unknown key `{key}`: {location}" }
    unknown_key_hint() { "檢查拼寫；ccc schema 列出所有鍵", "检查拼写；ccc schema 列出所有键", "check the spelling; ccc schema lists all keys" }
    mend_hint() { "ccc edit", "ccc edit", "ccc edit" }

    // Taking over a set-up.
    migrate_nothing(source: &str) { "沒有需要接管的設定: {source}", "没有需要接管的设置: {source}", "nothing to migrate: {source}" }
    migrate_found(name: &str) { "找到 {name}：", "找到 {name}：", "found {name}:" }
    migrate_added(name: &str, file: &str) { "{name} 加入 {file}", "{name} 加入 {file}", "added {name} to {file}" }
    migrate_known(name: &str) { "{name} 已存在且相同", "{name} 已存在且相同", "{name} already exists" }
    migrate_taken(name: &str) { "{name} 已存在但不同，保留原有的", "{name} 已存在但不同，保留原有的", "{name} already exists and differs; yours is kept" }
    migrate_bad_name(name: &str) { "{name} 不能用作名稱，略過", "{name} 不能用作名称，跳过", "{name} is not a valid name and is skipped" }
    migrate_not_understood(name: &str) { "{name} 沒有可用的設定，略過", "{name} 没有可用的设置，跳过", "{name} has no usable settings and is skipped" }
    migrate_current(name: &str) { "目前的 provider：{name}", "当前的 provider：{name}", "{name} becomes the current provider" }
    migrate_key(key: &str) { "接管 `{key}`", "接管 `{key}`", "migrated `{key}`" }
    migrate_owned(file: &str, list: &str) {
        "{file} 的這些變數改由 ccc 切換：{list}",
        "{file} 的这些变量改由 ccc 切换：{list}",
        "in {file}, ccc now manages: {list}"
    }
    migrate_dry_run() { "試行：沒有任何更動", "试运行：没有任何改动", "dry run: nothing was changed" }
    migrate_backup(path: &str) { "原檔備份：{path}", "原文件备份：{path}", "backup of the original: {path}" }

    // Examining.
    care_healthy() { "一切正常", "一切正常", "everything is fine" }
    care_found(count: usize) { "發現 {count} 個問題", "发现 {count} 个问题", "{count} problems found", count == 1: "{count} problem found" }
    care_found_hint() { "依上面的建議修正", "按上面的建议修正", "follow the hints above" }
    client_at(version: &str, path: &str) { "claude {version}（{path}）", "claude {version}（{path}）", "claude {version} ({path})" }
    care_no_providers(file: &str) { "尚無 provider: {file}", "尚无 provider: {file}", "no providers yet: {file}" }
    care_no_providers_hint() {
        "ccc add <名稱> --base-url <網址> --token-stdin，或 ccc migrate 接管既有設定",
        "ccc add <名称> --base-url <网址> --token-stdin，或 ccc migrate 接管已有设置",
        "ccc add <name> --base-url <address> --token-stdin, or ccc migrate to use your existing settings"
    }
    care_not_private(file: &str, mode: &str) { "其他人讀得到 token: {file}（權限 {mode}）", "其他人读得到 token: {file}（权限 {mode}）", "others can read the tokens: {file} (mode {mode})" }
    care_not_private_hint(file: &str) { "ccc doctor --fix，或 chmod 600 '{file}'", "ccc doctor --fix，或 chmod 600 '{file}'", "ccc doctor --fix, or chmod 600 '{file}'" }
    care_leftover(location: &str, list: &str) {
        "舊版把 provider 寫進所有工作階段共用的設定（{list}）: {location}",
        "旧版把 provider 写进所有会话共享的设置（{list}）: {location}",
        "an earlier version wrote a provider into the settings of all sessions ({list}): {location}"
    }
    care_leftover_hint() {
        "ccc doctor --fix 會移除；要讓所有工作階段都用它：ccc use <名稱>",
        "ccc doctor --fix 会移除；要让所有会话都用它：ccc use <名称>",
        "ccc doctor --fix removes it; to keep every session on it: ccc use <name>"
    }
    care_stale_hook(program: &str, location: &str) {
        "Stop hook 指向不存在的程式 {program}: {location}",
        "Stop hook 指向不存在的程序 {program}: {location}",
        "the Stop hook points to a program that does not exist, {program}: {location}"
    }
    care_stale_hook_hint() { "ccc use <名稱> 會更新它；或刪除該項", "ccc use <名称> 会更新它；或删除该项", "ccc use <name> updates it; or remove that entry" }
    care_stale_file(path: &str) { "已結束的程序留下的私有設定檔: {path}", "已结束的进程留下的私有设置文件: {path}", "a private settings file of a process that has ended: {path}" }
    care_stale_file_hint() { "ccc doctor --fix", "ccc doctor --fix", "ccc doctor --fix" }
    care_kept_copy(path: &str) { "未完成的 ccc edit 留下的副本: {path}", "未完成的 ccc edit 留下的副本: {path}", "a copy left by an unfinished ccc edit: {path}" }
    care_kept_copy_hint(path: &str) { "取出需要的內容，再 rm '{path}'", "取出需要的内容，再 rm '{path}'", "copy what you need, then rm '{path}'" }
    care_not_writable(path: &str, error: &str) { "無法寫入 {path}: {error}", "无法写入 {path}: {error}", "not writable: {path}: {error}" }
    care_not_writable_hint() { "修正權限，或把 CCC_CONFIG_DIR 設到別處", "修正权限，或把 CCC_CONFIG_DIR 设到别处", "fix its permissions, or set CCC_CONFIG_DIR to another folder" }
    care_old_client(found: &str, oldest: &str) { "claude {found} 太舊，最舊支援 {oldest}", "claude {found} 太旧，最旧支持 {oldest}", "claude {found} is older than {oldest}, the oldest supported version" }
    care_old_client_hint() { "claude update", "claude update", "claude update" }
    care_fixed(count: usize) { "已修正 {count} 項", "已修正 {count} 项", "fixed: {count}" }
}
