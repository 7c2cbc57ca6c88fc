//! What `ccc` says: providers, switching, starting the client.

messages! {
    // Errors.
    no_home() { "找不到設定資料夾: HOME 未設定", "找不到配置目录: HOME 未设置", "no configuration folder: HOME is not set" }
    no_home_hint() {
        "設定 HOME，或同時設定 CCC_CONFIG_DIR 與 CLAUDE_CONFIG_DIR（絕對路徑）",
        "设置 HOME，或同时设置 CCC_CONFIG_DIR 与 CLAUDE_CONFIG_DIR（绝对路径）",
        "set HOME, or both CCC_CONFIG_DIR and CLAUDE_CONFIG_DIR, to absolute paths"
    }
    not_plain(location: &str) {
        "Claude Code 會忽略含註解或多餘逗號的設定檔: {location}",
        "Claude Code 会忽略含注释或多余逗号的设置文件: {location}",
        "settings with comments or extra commas, which make Claude Code ignore the whole file: {location}"
    }
    not_plain_hint() {
        "改成不含註解的 JSON；檔案未更動",
        "改成不含注释的 JSON；文件未改动",
        "remove the comments and extra commas; the file was not changed"
    }
    wrong_object(key: &str, location: &str) { "`{key}` 必須是物件: {location}", "`{key}` 必须是对象: {location}", "`{key}` is not an object: {location}" }
    wrong_text(key: &str, location: &str) { "`{key}` 必須是字串: {location}", "`{key}` 必须是字符串: {location}", "`{key}` is not a string: {location}" }
    wrong_list(key: &str, location: &str) { "`{key}` 必須是字串清單: {location}", "`{key}` 必须是字符串列表: {location}", "`{key}` is not a list of strings: {location}" }
    wrong_type_hint(file: &str) {
        "用編輯器修正 {file}；沒有任何更動",
        "用编辑器修正 {file}；没有任何改动",
        "correct {file} in an editor; nothing was changed"
    }
    unset(variable: &str, key: &str, location: &str) {
        "`{key}` 需要環境變數 {variable}，但未設定: {location}",
        "`{key}` 需要环境变量 {variable}，但未设置: {location}",
        "`{key}` needs the variable {variable}, which is not set: {location}"
    }
    unset_hint(variable: &str) { "export {variable}=…", "export {variable}=…", "export {variable}=…" }
    unknown_provider(name: &str) { "未知的 provider: {name}", "未知的 provider: {name}", "unknown provider: {name}" }
    unknown_provider_at(name: &str, location: &str) {
        "未知的 provider: {name}（{location}）",
        "未知的 provider: {name}（{location}）",
        "unknown provider: {name} ({location})"
    }
    did_you_mean(name: &str, list: &str) {
        "是否指 {name}？可用：{list}",
        "是否指 {name}？可用：{list}",
        "did you mean {name}? available: {list}"
    }
    providers_are(list: &str) {
        "可用：{list}；要把參數交給 claude，請用 ccc -- …",
        "可用：{list}；要把参数交给 claude，请用 ccc -- …",
        "available: {list}; to pass arguments to claude: ccc -- …"
    }
    none_chosen(file: &str) { "尚未選擇 provider: {file}", "尚未选择 provider: {file}", "no provider is selected: {file}" }
    none_chosen_hint(list: &str) { "ccc use <名稱>；可用：{list}", "ccc use <名称>；可用：{list}", "ccc use <name>; available: {list}" }
    add_first_hint() {
        "先新增一個：ccc add <名稱> --base-url <網址> --token-stdin",
        "先新增一个：ccc add <名称> --base-url <网址> --token-stdin",
        "add one first: ccc add <name> --base-url <address> --token-stdin"
    }
    exists(name: &str, location: &str) { "provider 已存在: {name}（{location}）", "provider 已存在: {name}（{location}）", "provider already exists: {name} ({location})" }
    exists_hint(name: &str) {
        "在檔案中修改，或先執行 ccc remove {name}",
        "在文件中修改，或先执行 ccc remove {name}",
        "change it in the file, or ccc remove {name} first"
    }
    bad_name(name: &str) { "不能用作 provider 名稱: {name}", "不能用作 provider 名称: {name}", "not a valid provider name: {name}" }
    bad_name_hint() {
        "用字母、數字與 . _ -，並且不是 ccc 或 claude 的指令名稱",
        "用字母、数字与 . _ -，并且不是 ccc 或 claude 的命令名称",
        "use letters, digits and . _ -, and not the name of a ccc or claude command"
    }
    bad_variable(text: &str) { "不是 NAME=VALUE: {text}", "不是 NAME=VALUE: {text}", "not NAME=VALUE: {text}" }
    bad_variable_hint() { "例如 --env ANTHROPIC_MODEL=kimi-k2", "例如 --env ANTHROPIC_MODEL=kimi-k2", "for example --env ANTHROPIC_MODEL=kimi-k2" }
    secret_argument(name: &str) {
        "命令列上的密鑰任何人都看得到: {name}",
        "命令行上的密钥任何人都看得到: {name}",
        "a secret on the command line is visible to other users: {name}"
    }
    secret_argument_hint() {
        "用 --token-stdin 讀入，或用 --token-env <變數> 引用環境變數",
        "用 --token-stdin 读入，或用 --token-env <变量> 引用环境变量",
        "pass it with --token-stdin, or name a variable with --token-env"
    }
    no_token() { "stdin 沒有 token", "stdin 没有 token", "no token on stdin" }
    no_token_hint(name: &str) { "ccc add {name} --token-stdin < 檔案", "ccc add {name} --token-stdin < 文件", "ccc add {name} --token-stdin < file" }
    busy(path: &str) { "另一個 ccc 正在切換: {path}", "另一个 ccc 正在切换: {path}", "busy: another ccc is switching: {path}" }
    busy_hint() { "稍後再試", "稍后再试", "try again in a moment" }
    check_path_hint() { "檢查路徑與權限", "检查路径与权限", "check the path and its permissions" }
    no_client() { "PATH 中找不到 claude", "PATH 中找不到 claude", "claude is not on PATH" }
    no_client_hint() { "npm install -g @anthropic-ai/claude-code", "npm install -g @anthropic-ai/claude-code", "npm install -g @anthropic-ai/claude-code" }
    cannot_start(program: &str, error: &str) { "無法啟動 {program}: {error}", "无法启动 {program}: {error}", "cannot start {program}: {error}" }
    cannot_start_hint() { "執行 claude --version 查看原因", "执行 claude --version 查看原因", "run claude --version to see why" }

    // What was done.
    on(name: &str) { "ccc: 使用 {name}", "ccc: 使用 {name}", "ccc: on {name}" }
    on_isolated(name: &str) { "ccc: 使用 {name}（僅此次啟動）", "ccc: 使用 {name}（仅此次启动）", "ccc: on {name}, for this start only" }
    on_pinned(name: &str, location: &str) {
        "ccc: 使用 {name}（由 {location} 指定，僅此次啟動）",
        "ccc: 使用 {name}（由 {location} 指定，仅此次启动）",
        "ccc: on {name}, for this start only, as set in {location}"
    }
    switched(name: &str) { "已切換到 {name}", "已切换到 {name}", "switched to {name}" }
    switched_off() { "已從共用設定移除 provider", "已从共享设置移除 provider", "removed the provider from the shared settings" }
    tightened(file: &str) {
        "{file} 現在含有密鑰，已改為只有你能讀取",
        "{file} 现在含有密钥，已改为只有你能读取",
        "{file} now contains a secret, so only you can read it"
    }
    follows() { "這些執行中的工作階段會跟著切換：", "这些运行中的会话会跟着切换：", "these running sessions will switch with their next request:" }
    would_follow() { "這些執行中的工作階段將會跟著切換：", "这些运行中的会话将会跟着切换：", "these running sessions would switch:" }
    started_on(name: &str) { "以 {name} 啟動", "以 {name} 启动", "started on {name}" }
    not_passed_on(list: &str) {
        "ccc: 未傳給 claude：{list}",
        "ccc: 未传给 claude：{list}",
        "ccc: not passed on to claude: {list}"
    }
    leftovers_gone(file: &str, list: &str) {
        "ccc: 已從 {file} 移除舊版寫入的 {list}；ccc use <名稱> 可再放回",
        "ccc: 已从 {file} 移除旧版写入的 {list}；ccc use <名称> 可再放回",
        "ccc: removed from {file} what an earlier version wrote there: {list}; ccc use <name> puts it back"
    }
    added(name: &str, file: &str) { "已新增 {name}：{file}", "已新增 {name}：{file}", "added {name}: {file}" }
    removed(name: &str, file: &str) { "已移除 {name}：{file}", "已移除 {name}：{file}", "removed {name}: {file}" }
    would_change(file: &str) { "將會更動 {file}：", "将会改动 {file}：", "would change {file}:" }
    would_change_nothing(file: &str) { "{file} 不需更動", "{file} 无需改动", "{file} needs no change" }
    would_set() { "只為這次啟動設定：", "只为这次启动设置：", "would set for this start only:" }
    would_write_private() {
        "將會寫入一個私有設定檔，並以 --settings 傳給 claude",
        "将会写入一个私有设置文件，并以 --settings 传给 claude",
        "would write a private settings file and pass it to claude with --settings"
    }
    would_start(command: &str) { "將會啟動：{command}", "将会启动：{command}", "would start: {command}" }

    // Values that get in the way.
    overruled(name: &str, list: &str) {
        "無法在 {name} 上啟動，這些設定會把請求送到別處: {list}",
        "无法在 {name} 上启动，这些设置会把请求发到别处: {list}",
        "cannot start on {name}, since these settings would override it: {list}"
    }
    overruled_hint(name: &str) {
        "刪除這些行，或 ccc run --isolated {name}",
        "删除这些行，或 ccc run --isolated {name}",
        "remove these lines, or ccc run --isolated {name}"
    }
    overruled_used_hint(name: &str, used: &str) {
        "{used} 是由 ccc use 放入的：ccc use --off，或 ccc run --isolated {name}",
        "{used} 是由 ccc use 放入的：ccc use --off，或 ccc run --isolated {name}",
        "ccc use put {used} there: ccc use --off, or ccc run --isolated {name}"
    }
    overruled_managed_hint() {
        "這是管理者的設定，請管理者調整",
        "这是管理员的设置，请管理员调整",
        "these are the administrator's settings: ask the administrator"
    }
    needs_private(name: &str, key: &str) {
        "{name} 的 `{key}` 需要私有設定檔，受監督的啟動不能使用",
        "{name} 的 `{key}` 需要私有设置文件，受监督的启动不能使用",
        "`{key}` of {name} needs a private settings file, which a supervised start does not have"
    }
    needs_private_hint(name: &str) {
        "ccc run --isolated {name}，或把金鑰改放在 env",
        "ccc run --isolated {name}，或把密钥改放在 env",
        "ccc run --isolated {name}, or give the key in env"
    }
    conflict_wins(variable: &str, location: &str) {
        "{location} 的 {variable} 會蓋過 provider 的值；刪除該行，或改用 ccc run --isolated",
        "{location} 的 {variable} 会覆盖 provider 的值；删除该行，或改用 ccc run --isolated",
        "{variable} in {location} overrides the provider's value; remove that line, or use ccc run --isolated"
    }
    conflict_managed(variable: &str, location: &str) {
        "{location} 的 {variable} 會蓋過 provider 的值；請管理者調整",
        "{location} 的 {variable} 会覆盖 provider 的值；请管理员调整",
        "{variable} in {location} overrides the provider's value; ask the administrator"
    }
    conflict_stays(variable: &str, location: &str) {
        "{location} 的 {variable} 仍然有效，provider 沒有設定它；刪除該行，或在 provider 的 env 中設定（\"\" 表示停用）",
        "{location} 的 {variable} 仍然有效，provider 没有设置它；删除该行，或在 provider 的 env 中设置（\"\" 表示停用）",
        "{variable} in {location} still applies, since the provider does not set it; remove that line, or set it in the provider's env (\"\" disables it)"
    }
    conflict_set_aside(variable: &str, location: &str) {
        "{location} 的 {variable} 在這次啟動中不生效；不需要的話請刪除該行",
        "{location} 的 {variable} 在这次启动中不生效；不需要的话请删除该行",
        "{variable} in {location} is ignored for this start; remove that line if you do not need it"
    }

    // Tables.
    head_provider() { "Provider", "Provider", "Provider" }
    head_address() { "網址", "网址", "Address" }
    head_model() { "模型", "模型", "Model" }
    no_providers(file: &str) { "{file} 中沒有 provider", "{file} 中没有 provider", "no providers in {file}" }
}
