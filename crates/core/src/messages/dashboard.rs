//! The dashboard's server: why it refuses, and what it says in the terminal.

messages! {
    // Refusals.
    wrong_host() {
        "這個名稱不是這個 dashboard 的",
        "这个名称不是这个 dashboard 的",
        "this dashboard is not available under this host name"
    }
    wrong_host_hint() {
        "以 http://127.0.0.1:<port> 開啟，或以 --host-name 允許這個名稱",
        "以 http://127.0.0.1:<port> 打开，或以 --host-name 允许这个名称",
        "open http://127.0.0.1:<port>, or allow the name with --host-name"
    }
    other_site() { "請求來自其他網站", "请求来自其他网站", "the request comes from another site" }
    no_token() { "需要 token", "需要 token", "a token is needed" }
    no_token_hint() {
        "以 overtone dashboard --open 開啟，或貼上 overtone dashboard --token 顯示的 token",
        "以 overtone dashboard --open 打开，或粘贴 overtone dashboard --token 显示的 token",
        "open it with overtone dashboard --open, or paste the token from overtone dashboard --token"
    }
    no_such_path(path: &str) { "沒有 {path}", "没有 {path}", "there is no {path}" }
    no_such_session() { "沒有這個 session", "没有这个 session", "there is no such session" }
    no_such_file() { "沒有這個檔案", "没有这个文件", "there is no such file" }
    no_such_lesson() { "沒有這條經驗", "没有这条经验", "there is no such lesson" }
    bad_move() {
        "不認得這個專案或目標",
        "不认得这个项目或目标",
        "unknown project or target"
    }
    nothing_to_do() { "已經是這個狀態", "已经是这个状态", "already in this state" }
    too_many() { "連線太多，請稍後再試", "连接太多，请稍后再试", "too many connections; try again later" }

    no_text() { "需要文字", "需要文字", "text is required" }

    // The fleet.
    no_fleet() {
        "這台機器沒有加入任何機群",
        "这台机器没有加入任何机群",
        "this machine has not joined a fleet"
    }
    no_fleet_hint() {
        "在 config.json 設定 fleet.url",
        "在 config.json 设置 fleet.url",
        "set fleet.url in config.json"
    }
    one_machine_only() {
        "這裡只顯示一台機器；以 overtone dashboard --fleet 查看全部",
        "这里只显示一台机器；以 overtone dashboard --fleet 查看全部",
        "this shows only one machine; overtone dashboard --fleet shows all"
    }
    only_at_home() {
        "只能在它自己的機器上這麼做",
        "只能在它自己的机器上这么做",
        "this can only be done on its own machine"
    }
    fleet_unreachable() {
        "現在連不到機群",
        "现在连不到机群",
        "the fleet is unreachable"
    }
    machine_gone(name: &str) { "{name} 不在線上", "{name} 不在线", "{name} is offline" }
    machine_gone_hint() {
        "它回來時會繼續；也可以用 overtone fleet pull 接手這個 session",
        "它回来时会继续；也可以用 overtone fleet pull 接手这个 session",
        "it continues when the machine is back; overtone fleet pull takes the session over"
    }
    no_answer(name: &str) {
        "{name} 沒有回應；指令已收回",
        "{name} 没有回应；指令已收回",
        "{name} does not respond; the command was withdrawn"
    }
    answer_unknown(name: &str) {
        "{name} 沒有回應；它可能仍會執行",
        "{name} 没有回应；它可能仍会执行",
        "{name} does not respond; it may still do it"
    }

    // In the terminal.
    listening(address: &str) { "Dashboard：{address}", "Dashboard：{address}", "dashboard: {address}" }
    how_to_end() { "按 Ctrl-C 結束", "按 Ctrl-C 结束", "Ctrl-C stops it" }
    already_running(address: &str) {
        "Dashboard 已在執行：{address}",
        "Dashboard 已在运行：{address}",
        "the dashboard is already running: {address}"
    }
    started(address: &str) { "Dashboard 已啟動：{address}", "Dashboard 已启动：{address}", "the dashboard has started: {address}" }
    not_running() { "Dashboard 沒有在執行", "Dashboard 没有在运行", "no dashboard is running" }
    not_running_hint() { "執行 overtone dashboard", "运行 overtone dashboard", "run overtone dashboard" }
    stopped(pid: u32) { "Dashboard 已結束（{pid}）", "Dashboard 已结束（{pid}）", "the dashboard has stopped ({pid})" }
    cannot_listen(address: &str, problem: &str) {
        "無法使用 {address}：{problem}",
        "无法使用 {address}：{problem}",
        "cannot listen on {address}: {problem}"
    }
    cannot_listen_hint() {
        "以 --port 選擇其他的 port",
        "以 --port 选择其他的 port",
        "choose another one with --port"
    }
    did_not_start() {
        "Dashboard 沒有啟動",
        "Dashboard 没有启动",
        "the dashboard did not start"
    }
    did_not_start_hint() {
        "執行 overtone dashboard --foreground 查看原因",
        "运行 overtone dashboard --foreground 查看原因",
        "run overtone dashboard --foreground to see why"
    }
    cannot_open(address: &str) {
        "無法開啟瀏覽器，請自行開啟：{address}",
        "无法打开浏览器，请自行打开：{address}",
        "cannot open a browser; open it yourself: {address}"
    }
    cannot_open_here() {
        "無法開啟瀏覽器；請在終端機中執行 overtone dashboard --open",
        "无法打开浏览器；请在终端中运行 overtone dashboard --open",
        "cannot open a browser; run overtone dashboard --open in a terminal"
    }
    token_exposed(path: &str, mode: &str) {
        "其他使用者可存取 {path}（{mode}），不再使用這個 token",
        "其他用户可访问 {path}（{mode}），不再使用这个 token",
        "other users have access to {path} ({mode}), so its token is not used"
    }
    token_exposed_hint(folder: &str) {
        "chmod 700 {folder} && rm -f {folder}/token，下次會產生新的 token",
        "chmod 700 {folder} && rm -f {folder}/token，下次会生成新的 token",
        "chmod 700 {folder} && rm -f {folder}/token; the next start creates a new token"
    }
    token_foreign(path: &str) {
        "{path} 屬於其他使用者",
        "{path} 属于其他用户",
        "{path} belongs to another user"
    }
    token_foreign_hint(path: &str) {
        "確認它從何而來後移除：rm -r {path}",
        "确认它从何而来后移除：rm -r {path}",
        "find out where it comes from, then remove it: rm -r {path}"
    }
    open_to_all(address: &str) {
        "其他機器可以連到 {address}；連線沒有加密，token 請勿經過不信任的網路",
        "其他机器可以连到 {address}；连接没有加密，token 请勿经过不信任的网络",
        "other machines can reach {address}; the connection is not encrypted, so keep the token off networks you do not trust"
    }
}
