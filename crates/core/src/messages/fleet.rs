//! The fleet: many machines, one view.

messages! {
    // The settings.
    not_an_object() { "必須是物件", "必须是对象", "must be an object" }
    unknown_key() { "沒有這個設定", "没有这个设置", "no such setting" }
    missing() { "缺少", "缺少", "is missing" }
    bad_address() {
        "必須是 nats://主機:連接埠 或 tls://…（可用逗號列出多個）",
        "必须是 nats://主机:端口 或 tls://…（可用逗号列出多个）",
        "must be nats://host:port or tls://… (separate several with commas)"
    }
    bad_prefix() {
        "只能有英數字、- 和 _，以點分隔",
        "只能有英文字母、数字、- 和 _，以点分隔",
        "only letters, digits, - and _, separated by dots"
    }
    bad_share() { "必須是 state 或 full", "必须是 state 或 full", "must be state or full" }
    bad_number() { "不是可用的數字", "不是可用的数字", "is not a valid number" }
    not_a_text() { "必須是文字", "必须是文字", "must be a string" }
    half_identity() {
        "certificate 和 key 必須一起設定",
        "certificate 和 key 必须一起设置",
        "certificate and key must be set together"
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

    order_out_of_time(minutes: u64) {
        "指令的時間與這台機器的時鐘相差 {minutes} 分鐘；請校正時鐘後再送一次",
        "指令的时间与这台机器的时钟相差 {minutes} 分钟；请校正时钟后再发一次",
        "the command's time is {minutes} minutes off this machine's clock; correct the clocks and send it again"
    }
    order_given_up() {
        "執行這個指令時出錯了好幾次，已放棄",
        "执行这个指令时出错了好几次，已放弃",
        "it failed several times and was abandoned"
    }

    // Joining and leaving.
    not_joined() { "這台機器沒有加入任何機群", "这台机器没有加入任何机群", "this machine has not joined a fleet" }
    not_joined_hint() {
        "overtone fleet join nats://主機:4222，或先以 overtone fleet up 在本機試用",
        "overtone fleet join nats://主机:4222，或先用 overtone fleet up 在本机试用",
        "overtone fleet join nats://host:4222, or overtone fleet up to try it out on this machine"
    }
    mend_settings_hint() {
        "請修正 config.json 的 fleet，或重新執行 overtone fleet join",
        "请修正 config.json 的 fleet，或重新执行 overtone fleet join",
        "fix fleet in config.json, or run overtone fleet join again"
    }
    join_hint() { "overtone fleet join --help 有範例", "overtone fleet join --help 有示例", "overtone fleet join --help has examples" }
    label_joined() { "已加入", "已加入", "Joined" }
    label_as() { "身分", "身份", "As" }
    label_shared() { "分享", "分享", "Shared" }
    label_not_shared() { "不分享", "不分享", "Not shared" }
    shared_state() {
        "發生了什麼、進行到哪裡、Feature 名稱、花費",
        "发生了什么、进行到哪里、Feature 名称、花费",
        "events, progress, feature names, cost"
    }
    shared_full() {
        "一切，包括提示、程式碼和代理的文字",
        "一切，包括提示、代码和代理的文字",
        "everything, including prompts, code and the agents' texts"
    }
    not_shared() {
        "提示、程式碼、代理的文字、路徑（--share full 才會分享）",
        "提示、代码、代理的文字、路径（--share full 才会分享）",
        "prompts, code, the agents' texts, paths (only with --share full)"
    }
    start_relay() {
        "overtone relay 會開始轉送；執行中的儀表板重新啟動後也會",
        "overtone relay 会开始转送；运行中的仪表板重新启动后也会",
        "overtone relay starts sharing; so does the dashboard after a restart"
    }
    relay_is_old() {
        "正在執行的轉送仍使用舊的設定：請重新啟動它（overtone relay 或儀表板）",
        "正在运行的转送仍使用旧的设置：请重新启动它（overtone relay 或仪表板）",
        "the running relay still uses the old settings: restart it (overtone relay, or the dashboard)"
    }
    label_fingerprint() { "金鑰指紋", "密钥指纹", "Key" }
    label_team() { "團隊", "团队", "Team" }
    membership_member() { "這台機器是團隊的一員", "这台机器是团队的一员", "this machine is part of the team" }
    membership_waiting() {
        "等待團隊接受這台機器",
        "等待团队接受这台机器",
        "this machine is waiting to be accepted"
    }
    membership_waiting_hint() {
        "在邀請它的機器上執行 overtone fleet accept",
        "在邀请它的机器上执行 overtone fleet accept",
        "run overtone fleet accept on the machine that invited it"
    }
    membership_removed() {
        "這台機器已被移出團隊，沒有機器會聽它的",
        "这台机器已被移出团队，没有机器会听它的",
        "this machine was removed from the team, and no machine trusts it"
    }
    membership_outsider() {
        "這台伺服器上已有一個團隊，而這台機器不屬於它",
        "这台服务器上已有一个团队，而这台机器不属于它",
        "a team already uses this server, and this machine is not part of it"
    }
    join_again_hint() {
        "在團隊的一台機器上執行 overtone fleet invite，再在這裡執行 overtone fleet join 並貼上那一行",
        "在团队的一台机器上执行 overtone fleet invite，再在这里执行 overtone fleet join 并粘贴那一行",
        "run overtone fleet invite on a machine of the team, then overtone fleet join here, and paste its line"
    }
    membership_unknown() { "還沒有連上伺服器", "还没有连上服务器", "no connection to a server yet" }
    paste_invitation() {
        "貼上邀請（以 overtone-fleet- 開頭的那一行）：",
        "粘贴邀请（以 overtone-fleet- 开头的那一行）：",
        "Paste the invitation (the line that starts with overtone-fleet-):"
    }
    bad_invitation() { "這不是邀請，或只是其中一部分", "这不是邀请，或只是其中一部分", "not an invitation, or only part of one" }
    later_invitation() {
        "邀請來自較新的版本；請更新這台機器上的 Overtone",
        "邀请来自较新的版本；请更新这台机器上的 Overtone",
        "the invitation is from a newer version; update Overtone on this machine"
    }
    bad_invitation_hint() {
        "請重新執行 overtone fleet invite，並貼上整行",
        "请重新执行 overtone fleet invite，并粘贴整行",
        "run overtone fleet invite again, and paste the whole line"
    }
    invitation_first() {
        "在新機器上執行 overtone fleet join，並貼上這一行：",
        "在新机器上执行 overtone fleet join，并粘贴这一行：",
        "On the new machine, run overtone fleet join and paste this line:"
    }
    invitation_then() {
        "然後在這裡執行 overtone fleet accept。這一行可用一天、只能用一次，裡面有伺服器的登入資訊：請私下傳送",
        "然后在这里执行 overtone fleet accept。这一行可用一天、只能用一次，里面有服务器的登录信息：请私下发送",
        "Then run overtone fleet accept here. The line works for one machine and one day, and it contains the server's \
         login: send it privately"
    }
    invitation_needs_credentials() {
        "這個機群使用憑證檔：新機器需要自己的，以 --credentials 或 --certificate 指定",
        "这个机群使用凭证文件：新机器需要自己的，用 --credentials 或 --certificate 指定",
        "this fleet uses credentials: the new machine needs its own, with --credentials or --certificate"
    }
    nobody_waits() { "沒有機器在等待", "没有机器在等待", "no machine is waiting" }
    nobody_waits_hint() {
        "overtone fleet invite 會邀請一台機器",
        "overtone fleet invite 会邀请一台机器",
        "overtone fleet invite invites one"
    }
    waiting_machine(name: &str, fingerprint: &str) {
        "{name}，金鑰指紋 {fingerprint}",
        "{name}，密钥指纹 {fingerprint}",
        "{name}, key {fingerprint}"
    }
    waits_by_invitation() {
        "它使用了這台機器的邀請",
        "它使用了这台机器的邀请",
        "it used an invitation from this machine"
    }
    waits_without_invitation() {
        "它沒有這台機器的邀請：請與那台機器上的 overtone fleet status 核對指紋",
        "它没有这台机器的邀请：请与那台机器上的 overtone fleet status 核对指纹",
        "it has no invitation from this machine: compare the key with overtone fleet status on that machine"
    }
    accept_question(name: &str) { "接受 {name}？", "接受 {name}？", "Accept {name}?" }
    accepted(name: &str) { "已接受 {name}", "已接受 {name}", "{name} is part of the team now" }
    accept_needs_answer() {
        "沒有人可以回答：請指明要接受的機器",
        "没有人可以回答：请指明要接受的机器",
        "no terminal to ask in: say which machine to accept"
    }
    accept_needs_answer_hint(fingerprint: &str) {
        "overtone fleet accept {fingerprint}，或以 --invited 接受所有使用了這台機器邀請的機器",
        "overtone fleet accept {fingerprint}，或用 --invited 接受所有使用了这台机器邀请的机器",
        "overtone fleet accept {fingerprint}, or --invited for all that used an invitation from this machine"
    }
    no_such_machine(name: &str) { "沒有這台機器：{name}", "没有这台机器：{name}", "no such machine: {name}" }
    no_such_machine_hint() {
        "overtone fleet machines 會列出全部",
        "overtone fleet machines 会列出全部",
        "overtone fleet machines shows all"
    }
    without_a_key() {
        "它的版本沒有金鑰，無法接受",
        "它的版本没有密钥，无法接受",
        "it runs a version without keys, so it cannot be accepted"
    }
    number_taken(name: &str) {
        "它使用 {name} 的編號，但金鑰不同",
        "它使用 {name} 的编号，但密钥不同",
        "it uses the id of {name} with another key"
    }
    number_taken_hint(name: &str) {
        "如果那是 {name} 遺失了金鑰：先執行 overtone fleet remove {name}",
        "如果那是 {name} 丢失了密钥：先执行 overtone fleet remove {name}",
        "if it is {name} with a lost key: overtone fleet remove {name} first"
    }
    not_a_member() {
        "這台機器不是團隊的一員，不能改變團隊",
        "这台机器不是团队的一员，不能改变团队",
        "this machine is not part of the team, so it cannot change it"
    }
    removed(name: &str) {
        "已移出 {name}：沒有機器會再聽它的",
        "已移出 {name}：没有机器会再听它的",
        "removed {name}: no machine trusts it any more"
    }
    remove_question(name: &str, fingerprint: &str) {
        "移出 {name}（{fingerprint}）？",
        "移出 {name}（{fingerprint}）？",
        "Remove {name} ({fingerprint})?"
    }
    remove_needs_yes() {
        "沒有人可以回答：請加上 --yes",
        "没有人可以回答：请加上 --yes",
        "no terminal to ask in: add --yes"
    }
    remove_login_hint() {
        "它仍知道伺服器的登入資訊；要讓它連不上，請更換伺服器的密碼",
        "它仍知道服务器的登录信息；要让它连不上，请更换服务器的密码",
        "it still knows the server's login; to lock it out completely, change the server's password"
    }
    last_member() {
        "這是團隊的最後一台機器",
        "这是团队的最后一台机器",
        "it is the last machine of the team"
    }
    last_member_hint() { "overtone fleet leave 會離開", "overtone fleet leave 会离开", "overtone fleet leave leaves it" }
    was_not_joined() { "本來就沒有加入機群", "本来就没有加入机群", "it was not part of a fleet" }
    left() {
        "已離開機群。先前轉送的內容會留在伺服器上，直到過期",
        "已离开机群。先前转送的内容会留在服务器上，直到过期",
        "left the fleet. Data already shared stays on the server until it expires"
    }

    // The server.
    unreachable(urls: &str, why: &str) {
        "無法連上 {urls}：{why}",
        "无法连上 {urls}：{why}",
        "cannot reach {urls}: {why}"
    }
    unreachable_hint() {
        "請檢查位址、憑證檔和防火牆；伺服器必須開啟 JetStream（nats-server -js）",
        "请检查地址、凭证文件和防火墙；服务器必须开启 JetStream（nats-server -js）",
        "check the address, the credentials and firewalls; the server needs JetStream (nats-server -js)"
    }
    not_permitted(what: &str) {
        "伺服器不允許：{what}",
        "服务器不允许：{what}",
        "permission denied by the server: {what}"
    }
    not_permitted_hint() {
        "overtone fleet server-config 會寫出含有所需權限的伺服器設定",
        "overtone fleet server-config 会写出含有所需权限的服务器配置",
        "overtone fleet server-config writes a configuration with the permissions a team needs"
    }
    server_failed(why: &str) {
        "伺服器沒有照做：{why}",
        "服务器没有照做：{why}",
        "the fleet server failed: {why}"
    }
    server_failed_hint() {
        "overtone doctor 會檢查整條路徑",
        "overtone doctor 会检查整条路径",
        "overtone doctor checks the connection"
    }
    no_program() { "找不到 nats-server", "找不到 nats-server", "nats-server was not found" }
    no_program_hint() {
        "apt-get install nats-server，或 brew install nats-server",
        "apt-get install nats-server，或 brew install nats-server",
        "apt-get install nats-server, or brew install nats-server"
    }
    port_taken(port: u32) {
        "連接埠 {port} 已被使用",
        "端口 {port} 已被使用",
        "port {port} is in use"
    }
    port_taken_hint(url: &str) {
        "用 --port 選另一個；若那就是 NATS：overtone fleet join {url}",
        "用 --port 选另一个；如果那就是 NATS：overtone fleet join {url}",
        "choose another one with --port; if it is a NATS server: overtone fleet join {url}"
    }
    server_did_not_start() { "nats-server 沒有啟動", "nats-server 没有启动", "nats-server did not start" }
    see_log_hint(path: &str) { "請看 {path}", "请看 {path}", "see {path}" }
    server_started(url: &str) { "伺服器已啟動：{url}", "服务器已启动：{url}", "the server is running: {url}" }
    server_runs(url: &str) { "伺服器已在執行：{url}", "服务器已在运行：{url}", "the server is already running: {url}" }
    joined_elsewhere() {
        "這台機器已加入另一個機群",
        "这台机器已加入另一个机群",
        "this machine is part of another fleet"
    }
    joined_elsewhere_hint() { "先執行 overtone fleet leave", "先执行 overtone fleet leave", "overtone fleet leave first" }
    no_server() {
        "沒有由 overtone fleet up 啟動的伺服器",
        "没有由 overtone fleet up 启动的服务器",
        "no server started by overtone fleet up is running"
    }
    no_server_hint() {
        "其他方式啟動的伺服器請以原本的方式停止",
        "其他方式启动的服务器请用原来的方式停止",
        "a server that was started in another way has to be stopped in that way"
    }
    server_stopped(pid: u32, data: &str) {
        "伺服器已停止（{pid}），資料保留在 {data}",
        "服务器已停止（{pid}），数据保留在 {data}",
        "the server has stopped ({pid}); its data stays in {data}"
    }

    server_written(folder: &str) {
        "已寫入 {folder}（只有你能讀）：",
        "已写入 {folder}（只有你能读）：",
        "written to {folder}, readable only by you:"
    }
    server_start(config: &str) { "啟動伺服器：nats-server -c {config}", "启动服务器：nats-server -c {config}", "start the server: nats-server -c {config}" }
    server_first(team: &str, line: &str) {
        "{team} 的第一台機器：{line}",
        "{team} 的第一台机器：{line}",
        "the first machine of {team}: {line}"
    }
    server_others() {
        "其他機器：在第一台上執行 overtone fleet invite",
        "其他机器：在第一台上执行 overtone fleet invite",
        "all others: run overtone fleet invite on the first one"
    }
    server_new_folder() {
        "這個資料夾裡有別的東西",
        "这个文件夹里有别的东西",
        "this folder contains other files"
    }
    server_new_folder_hint() {
        "用 --out 選另一個資料夾",
        "用 --out 选另一个文件夹",
        "choose another folder with --out"
    }
    invite_others() {
        "讓另一台機器（或另一個 OVERTONE_HOME）加入：overtone fleet invite",
        "让另一台机器（或另一个 OVERTONE_HOME）加入：overtone fleet invite",
        "for another machine or another home (OVERTONE_HOME): overtone fleet invite"
    }

    // How this machine is.
    label_relay() { "轉送", "转送", "Relay" }
    relay_state_connected() { "已連線", "已连接", "connected" }
    relay_state_disconnected() { "未連線", "未连接", "not connected" }
    relay_state_none() { "沒有在執行", "没有在运行", "not running" }
    relay_state_silent(age: &str) {
        "在執行，但已 {age} 沒有動靜",
        "在运行，但已 {age} 没有动静",
        "running, but no heartbeat for {age}"
    }
    relay_restarts(count: u32, why: &str) {
        "出錯後重新啟動了 {count} 次，最近一次：{why}",
        "出错后重新启动了 {count} 次，最近一次：{why}",
        "restarted {count} times after errors, the last one: {why}",
        count == 1: "restarted {count} time after an error: {why}"
    }
    label_problem() { "問題", "问题", "Problem" }
    label_refused() { "擱置的指令", "搁置的指令", "Commands set aside" }
    refused_count(count: u64) { "{count}", "{count}", "{count}" }
    refused_malformed() { "無法讀懂", "无法读懂", "cannot be read" }
    refused_later() { "來自較新的版本", "来自较新的版本", "from a newer version" }
    refused_unsigned() { "沒有簽章（較舊的版本）", "没有签名（较旧的版本）", "not signed (an older version)" }
    refused_unknown() { "來自不認識的機器", "来自不认识的机器", "from an unknown machine" }
    refused_forged() { "簽章不符", "签名不符", "the signature is wrong" }
    refused_bad_id() { "編號不可用", "编号不可用", "its id is not valid" }
    refused_out_of_time() { "時間不對", "时间不对", "its time is too far off" }
    refused_given_up() { "執行時反覆出錯", "执行时反复出错", "failed repeatedly" }
    refused_other() { "其他原因", "其他原因", "for another reason" }

    // The relay.
    relaying(urls: &str, prefix: &str, name: &str) {
        "轉送到 {urls}（{prefix}），身分是 {name}；Ctrl-C 結束",
        "转送到 {urls}（{prefix}），身份是 {name}；Ctrl-C 结束",
        "relaying to {urls} ({prefix}) as {name}; Ctrl-C stops it"
    }
    relay_waits() {
        "另一個程序已在轉送；它結束後由這裡接手",
        "另一个进程已在转送；它结束后由这里接手",
        "another process is already relaying; this one takes over when it ends"
    }
    relay_connected() { "已連線", "已连接", "connected" }
    relay_lost(why: &str) { "未連線：{why}", "未连接：{why}", "not connected: {why}" }
    relay_problem(why: &str) { "轉送遇到問題：{why}", "转送遇到问题：{why}", "the relay has a problem: {why}" }
    exporting() {
        "正在把工作流匯出到 OpenTelemetry 收集器",
        "正在把工作流导出到 OpenTelemetry 收集器",
        "exporting workflows to the OpenTelemetry collector"
    }
    relay_ended() { "已結束", "已结束", "ended" }
    no_relay() {
        "沒有轉送在執行：其他機器看不到這裡發生的事",
        "没有转送在运行：其他机器看不到这里发生的事",
        "no relay is running: other machines do not see what happens here"
    }
    relay_silent() {
        "這台機器的轉送沒有回應指令",
        "这台机器的转送没有回应指令",
        "this machine's relay does not respond to commands"
    }
    relay_silent_hint() {
        "重新啟動 overtone relay 或儀表板",
        "重新启动 overtone relay 或仪表板",
        "restart overtone relay or the dashboard"
    }

    // The list.
    nobody_yet() {
        "還沒有任何機器。overtone relay 會讓這台出現",
        "还没有任何机器。overtone relay 会让这台出现",
        "no machines yet. overtone relay makes this one appear"
    }
    head_machine() { "機器", "机器", "Machine" }
    head_version() { "版本", "版本", "Version" }
    head_load() { "負載", "负载", "Load" }
    head_fingerprint() { "金鑰指紋", "密钥指纹", "Key" }
    member() { "團隊成員", "团队成员", "member" }
    unknown_machine(id: &str) { "不認識 {id}", "不认识 {id}", "unknown {id}" }
    unknown_claims(name: &str) { "自稱「{name}」", "自称「{name}」", "calls itself \"{name}\"" }
    unknown_waits() {
        "等待接受：overtone fleet accept",
        "等待接受：overtone fleet accept",
        "waiting to be accepted: overtone fleet accept"
    }
    unknown_old() {
        "較舊的版本，沒有金鑰：更新它，再以 overtone fleet invite 邀請它",
        "较旧的版本，没有密钥：更新它，再用 overtone fleet invite 邀请它",
        "an older version without a key: update it, then invite it with overtone fleet invite"
    }
    never_seen() { "從未出現", "从未出现", "never" }
    head_last_seen() { "最後出現", "最后出现", "Last seen" }
    head_project() { "專案", "项目", "Project" }
    head_cost() { "費用", "费用", "Cost" }
    head_repository() { "儲存庫", "仓库", "Repository" }
    head_who() { "誰在做", "谁在做", "Who" }
    label_supervisor() { "Supervisor", "Supervisor", "Supervisor" }
    supervised(rounds: u64, last: &str) {
        "{rounds} 次審查，最近：{last}",
        "{rounds} 次审查，最近：{last}",
        "rounds: {rounds}, last: {last}"
    }
    present() { "在線", "在线", "online" }
    gone() { "離線", "离线", "offline" }
    conflict() { "⚠ 衝突", "⚠ 冲突", "⚠ conflict" }
    seen_foreign(count: usize) {
        "有 {count} 則訊息無法讀懂，已略過",
        "有 {count} 条消息无法读懂，已略过",
        "{count} messages could not be read and were skipped",
        count == 1: "{count} message could not be read and was skipped"
    }
    seen_later(version: u32) {
        "有些訊息來自較新的版本（{version}），已略過；請更新 Overtone",
        "有些消息来自较新的版本（{version}），已略过；请更新 Overtone",
        "some messages are from a newer version ({version}) and were skipped; update Overtone"
    }
    listening() { "等待事件；Ctrl-C 結束", "等待事件；Ctrl-C 结束", "waiting for events; Ctrl-C stops it" }

    // Sessions by name.
    unknown_session(name: &str) {
        "機群裡沒有這個工作階段：{name}",
        "机群里没有这个会话：{name}",
        "no such session in the fleet: {name}"
    }
    unknown_session_hint() { "overtone fleet list 會列出全部", "overtone fleet list 会列出全部", "overtone fleet list shows all" }
    several_sessions(name: &str) {
        "不只一個工作階段以 {name} 開頭",
        "不只一个会话以 {name} 开头",
        "several sessions start with {name}"
    }
    several_sessions_hint(names: &str) { "是哪一個：{names}", "是哪一个：{names}", "which one: {names}" }

    // Orders.
    done_stop(machine: &str) { "{machine} 已停止它", "{machine} 已停止它", "stopped on {machine}" }
    done_resume(machine: &str) { "{machine} 已讓它繼續", "{machine} 已让它继续", "resumed on {machine}" }
    done_pause(machine: &str) {
        "{machine} 已暫停它，Feature 也放到一旁",
        "{machine} 已暂停它，Feature 也放到一旁",
        "paused on {machine}, and its feature is set aside"
    }
    done_message(machine: &str) {
        "已交給 {machine}；主代理下一步會看到",
        "已交给 {machine}；主代理下一步会看到",
        "delivered to {machine}; the main agent gets it with its next step"
    }
    done_other(machine: &str) { "{machine} 已完成", "{machine} 已完成", "done by {machine}" }
    refused(machine: &str, reason: &str) {
        "{machine} 拒絕：{reason}",
        "{machine} 拒绝：{reason}",
        "{machine} refused: {reason}"
    }
    refused_hint(session: &str) {
        "overtone fleet show {session} 顯示它的狀況",
        "overtone fleet show {session} 显示它的状况",
        "overtone fleet show {session} shows its state"
    }
    machine_gone(machine: &str) {
        "{machine} 已離線",
        "{machine} 已离线",
        "{machine} is offline"
    }
    gone_hint(session: &str) {
        "沒有送出任何指令；overtone fleet pull {session} --take-over 可在這裡接手",
        "没有送出任何指令；overtone fleet pull {session} --take-over 可在这里接手",
        "nothing was sent; overtone fleet pull {session} --take-over continues it here"
    }
    no_answer(machine: &str) {
        "{machine} 沒有回應；指令已收回",
        "{machine} 没有回应；指令已收回",
        "{machine} does not respond; the command was withdrawn"
    }
    no_answer_hint(machine: &str) {
        "稍後再試，或看看 {machine} 上的 overtone doctor",
        "稍后再试，或看看 {machine} 上的 overtone doctor",
        "try again later, or see overtone doctor on {machine}"
    }
    maybe_done(machine: &str) {
        "{machine} 沒有回應，但可能仍會執行",
        "{machine} 没有回应，但可能仍会执行",
        "{machine} has not responded, and may still do it"
    }
    maybe_done_hint(session: &str) {
        "先用 overtone fleet show {session} 看結果，再決定是否重送",
        "先用 overtone fleet show {session} 看结果，再决定是否重发",
        "check with overtone fleet show {session} before you send it again"
    }

    // Moving a session.
    other_repository(theirs: &str, ours: &str) {
        "這個工作階段屬於 {theirs}，這裡是 {ours}",
        "这个会话属于 {theirs}，这里是 {ours}",
        "the session belongs to {theirs}, and this is {ours}"
    }
    pulled(session: &str, from: &str, events: usize, handoffs: usize) {
        "{session} 已從 {from} 移到這裡：{events} 個事件，{handoffs} 份交接",
        "{session} 已从 {from} 移到这里：{events} 个事件，{handoffs} 份交接",
        "moved {session} here from {from}: {events} events, {handoffs} handoffs"
    }
    pulled_without_texts() {
        "只分享了狀態：提示和代理的文字留在原處",
        "只分享了状态：提示和代理的文字留在原处",
        "only its state was shared: prompts and the agents' texts stayed there"
    }
    pulled_cut() {
        "時間軸不完整：有些部分已過期或不見了",
        "时间线不完整：有些部分已过期或不见了",
        "its timeline is incomplete: part of it has expired or is missing"
    }
    pulled_kept(path: &str) {
        "原本在這裡的版本保留在 {path}",
        "原来在这里的版本保留在 {path}",
        "what was here before is kept in {path}"
    }
    pull_changed(machine: &str) {
        "伺服器上的內容不是 {machine} 交出的內容",
        "服务器上的内容不是 {machine} 交出的内容",
        "the data on the server is not what {machine} handed over"
    }
    pull_changed_hint() {
        "再試一次；若一直如此，可能有人改動了伺服器上的資料",
        "再试一次；如果一直如此，可能有人改动了服务器上的数据",
        "try again; if it keeps happening, somebody may have changed the data on the server"
    }
    pulled_next(folder: &str, command: &str) {
        "先取得程式碼，再在 {folder} 執行 {command}",
        "先取得代码，再在 {folder} 执行 {command}",
        "get the code, then in {folder}: {command}"
    }
    pull_here() { "這個工作階段就在這台機器上", "这个会话就在这台机器上", "the session is on this machine" }
    pull_here_hint(session: &str) { "claude --resume {session}", "claude --resume {session}", "claude --resume {session}" }
    pull_gone_hint(session: &str) {
        "overtone fleet pull {session} --take-over 會接手；原機器回來後會讓開",
        "overtone fleet pull {session} --take-over 会接手；原机器回来后会让开",
        "overtone fleet pull {session} --take-over takes it over; that machine gives it up when it comes back"
    }
    pull_lost(machine: &str) { "{machine} 比較快", "{machine} 比较快", "{machine} took the session over first" }
    pull_lost_hint() {
        "overtone fleet list 顯示現在屬於誰",
        "overtone fleet list 显示现在属于谁",
        "overtone fleet list shows whose it is now"
    }
    pull_occupied() {
        "這台機器已有同一個 id 的工作階段",
        "这台机器已有同一个 id 的会话",
        "a session with this id is on this machine already"
    }
    pull_occupied_hint(session: &str) {
        "overtone sessions show {session} 顯示它；不需要時以 overtone sessions rm 移除",
        "overtone sessions show {session} 显示它；不需要时用 overtone sessions rm 移除",
        "overtone sessions show {session} shows it; overtone sessions rm removes it"
    }

    // A feature at the start.
    feature_taken(feature: &str, machine: &str, age: &str) {
        "{machine} 正在做 {feature}（已 {age}）",
        "{machine} 正在做 {feature}（已 {age}）",
        "{machine} has been working on {feature} for {age}"
    }
    feature_taken_hint() {
        "--anyway 仍要開始；overtone fleet list 顯示誰在做什麼",
        "--anyway 仍要开始；overtone fleet list 显示谁在做什么",
        "--anyway starts regardless; overtone fleet list shows who works on what"
    }
    feature_not_asked(why: &str) {
        "無法詢問機群這個 Feature 是否有人在做，照常開始：{why}",
        "无法询问机群这个 Feature 是否有人在做，照常开始：{why}",
        "could not check with the fleet whether the feature is free; starting anyway: {why}"
    }
}
