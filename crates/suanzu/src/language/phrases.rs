//! Everything that the command line says, in both languages.

use super::Phrase;

macro_rules! phrases {
    ($($name:ident: $en:literal, $zh:literal;)*) => {
        $(pub const $name: Phrase = Phrase { en: $en, zh: $zh };)*

        /// All of them, for the test that both languages name the same values.
        #[cfg(test)]
        const ALL: &[Phrase] = &[$($name),*];
    };
}

// Titles of columns.
phrases! {
    ACTIONS: "ACTIONS", "可用操作";
    AGENT: "AGENT", "节点代理";
    BILLS: "BILLS WORKED OUT AGAIN", "重新核算的账单";
    BROKEN: "BROKEN", "出错";
    CHANGE: "CHANGE OF BALANCE", "可用余额变动";
    NOTE: "NOTE", "备注";
    CLOSED: "CLOSED", "已关闭";
    INSTEAD: "INSTEAD", "可改为";
    KEY: "KEY", "密钥编号";
    MAIN_MEMORY: "MEMORY", "内存";
    PAYMENT: "PAYMENT", "支付单";
    PROJECTS: "PROJECTS", "项目";
    REVOKED: "REVOKED", "已吊销";
    SPEND: "SPEND", "消费";
    ACTOR: "ACTOR", "操作者";
    AMOUNT: "AMOUNT", "金额";
    ARREARS_GRACE: "GRACE AFTER THE BALANCE ENDED", "欠费宽限期";
    ASK: "ASK", "需求";
    AVAILABLE: "AVAILABLE", "可用余额";
    CHARGED: "CHARGED", "累计扣费";
    CHECK: "CHECK", "检查项";
    CHECKPOINTS: "CHECKPOINTS", "检查点";
    CLOCK_OFF: "CLOCK OFF (MS)", "时钟偏差（毫秒）";
    CLOCK_OFF_MOST: "MOST A CLOCK MAY BE OFF", "允许的时钟偏差";
    COMMANDS: "COMMANDS", "命令数";
    WORLDS: "WORLDS", "模拟世界";
    COMMAND: "COMMAND", "命令";
    COST_SO_FAR: "COST SO FAR", "已产生费用";
    CPU_USED: "CPU", "CPU";
    CREDIT_LIMIT: "CREDIT LIMIT", "信用额度";
    CURRENT: "CURRENT", "当前";
    DATA: "DATA", "数据";
    DETAIL: "DETAIL", "详情";
    DEVICES: "DEVICES", "卡";
    DO: "WHAT TO DO", "处理办法";
    ENDED: "ENDED", "结束时间";
    ENTRIES: "ENTRIES", "条目数";
    AS_OF_ENTRY: "AS OF ENTRY", "截至条目";
    ENTRY: "ENTRY", "条目";
    EVENT: "EVENT", "事件";
    EVENTS: "EVENTS", "事件";
    EXPIRES: "EXPIRES", "到期时间";
    FOUND: "FOUND", "结果";
    FREE: "FREE", "空闲";
    FROM: "FROM", "起";
    FUNDED_UNTIL: "FUNDED UNTIL", "资金可用至";
    HELD: "HELD", "冻结";
    HOLD: "HOLD", "预冻结";
    HOURS: "HOURS", "小时";
    ID: "ID", "编号";
    ISOLATION: "ISOLATION", "隔离";
    KIND: "KIND", "类型";
    LABELS: "LABELS", "标签";
    LAST_HEARD: "LAST HEARD", "最近联系";
    LAST_SEEN: "LAST SEEN", "最近可见";
    LEASE: "LEASE", "租约";
    LEASES: "LEASES", "租约";
    LIMITS: "LIMITS", "限额";
    LINES: "LINES", "账单行";
    LOG: "LOG", "日志";
    LOST_AFTER: "LEASES ARE LOST AFTER SILENCE OF", "失联多久后租约终止";
    MARK: "MARK", "状态";
    MEMORY: "MEMORY", "显存";
    NAME: "NAME", "名称";
    OWED: "OWED", "欠款";
    PAID: "PAID", "累计充值";
    PARTS: "PARTS", "部分";
    PLACEMENT: "PLACEMENT", "位置";
    PLACE_IN_QUEUE: "PLACE IN QUEUE", "队列位置";
    POOL: "POOL", "资源池";
    PRICE_HOUR: "PRICE/HOUR", "每小时价格";
    PRICE_LIST: "LIST", "价目表";
    PROGRESS: "PROGRESS", "进度";
    PROJECT: "PROJECT", "项目";
    QUANTITY: "QUANTITY", "数量";
    QUEUE_BOUND: "LONGEST WAIT BEFORE OTHERS STAND BACK", "队首最长等待";
    READY: "READY", "就绪时间";
    REASON: "REASON", "原因";
    REASONS: "REASONS", "原因";
    REQUESTED: "ORDERED", "下单时间";
    ROLE: "ROLE", "角色";
    ROOT: "ROOT", "树根";
    SERVER: "server", "整机";
    SECONDS: "SECONDS", "秒";
    SECRET_ONCE: "SECRET (SHOWN ONCE)", "密钥（仅显示一次）";
    SIMULATED: "REAL?", "真实？";
    SINCE: "SINCE", "起始时间";
    SKU: "SKU", "计费项";
    SMALLEST_COMPUTE: "SMALLEST SHARE, COMPUTE", "最小切分算力";
    SMALLEST_MEMORY: "SMALLEST SHARE, MEMORY", "最小切分显存";
    SMALLEST_SHARE: "SMALLEST SHARE", "最小切分";
    STATE: "STATE", "状态";
    SUBJECT: "SUBJECT", "对象";
    TENANT: "TENANT", "租户";
    TIME: "TIME", "时间";
    TOTAL: "TOTAL", "总量";
    UNIT_PRICE: "UNIT PRICE/HOUR", "单价/小时";
    UNSEEN_AFTER: "NOT OFFERED AFTER SILENCE OF", "失联多久后停止出租";
    UNTIL: "UNTIL", "止";
    URL: "URL", "地址";
    USER: "USER", "用户";
    WALLET: "WALLET", "钱包";
    WHAT: "WHAT", "对象";
    WHY: "WHY", "原因";
    IS_REAL: "real", "真实";
    IS_SIMULATED: "SIMULATED", "模拟";

    // Questions and what is said around them.
    ASK_DESTROY: "Destroy ends the lease for good, and deletes its files and output. Go on?", "销毁将永久结束租约，并删除其文件与输出。继续？";
    ASK_LOSE: "Every lease on this node ends at its last proof of service. Go on?", "该节点上的所有租约将在最后一次服务证明处结束。继续？";
    ASK_EXTEND: "It then costs this until its new end. Go on?", "此后按此价格计费至新的结束时间。继续？";
    ASK_RENT: "Rent it?", "确认租用？";
    ASK_RESIZE: "It then costs this from now on. Go on?", "此后即按此价格计费。继续？";
    ASK_START: "It then costs this once it is ready. Go on?", "就绪后即按此价格计费。继续？";
    ASK_STOP: "Stop ends the workload and its charge, and deletes its files and output; the lease stays and may be started again, from nothing. Go on?", "停止将结束任务与计费，并删除其文件与输出；租约保留，可重新启动，但从空白开始。继续？";
    NOBODY_TO_ASK: "nobody can be asked here, and nothing was done; to go on without a question use --yes", "此处无法询问，未执行任何操作；如需免确认执行请使用 --yes";
    NOTHING_DONE: "Nothing was done.", "未执行任何操作。";
    NOT_SENT: "Nothing was sent.", "未发送任何请求。";
    PRICE_FROM_THEN: "{0} an hour, by the second", "每小时 {0}，按秒计费";
    QUOTE: "{0} an hour, by the second; {1} are held and given back", "每小时 {0}，按秒计费；预冻结 {1}，结束后退还";
    QUOTE_WHERE: "  where: {0}", "  位置：{0}";
    QUOTE_WAITS: "it would wait: {0}", "将排队等待：{0}";
    NAME_A_TENANT: "name the tenant: --tenant tenant-1", "请指定租户：--tenant tenant-1";
    NAME_A_FOLDER: "name the data folder: --data FOLDER or SUANZU_DATA", "请指定数据目录：--data 目录 或 SUANZU_DATA";

    // Errors and what to do.
    ERROR: "error", "错误";
    ERROR_USAGE: "usage", "用法";
    ERROR_TIMEOUT: "timeout", "超时";
    UNREACHABLE: "{0} does not answer: {1}; start a server with `suanzu serve`, or name one with --url or SUANZU_URL", "{0} 无响应：{1}；请用 `suanzu serve` 启动服务，或用 --url 或 SUANZU_URL 指定地址";
    NOT_TRUSTED: "the certificate of {0} is not trusted here ({1}); where the server made its own, copy <data>/tls/certificate.pem from it and give it with --ca FILE or SUANZU_CA", "{0} 的证书在此不受信任（{1}）；如服务使用自签名证书，请从其数据目录复制 tls/certificate.pem，并用 --ca 文件 或 SUANZU_CA 指定";
    SPEAKS_NO_TLS: "{0} does not speak TLS ({1}); write http:// if that is meant", "{0} 未启用 TLS（{1}）；如确需明文请使用 http://";
    SPEAKS_TLS: "{0} does not answer in plain HTTP ({1}); write https://, and --ca <data>/tls/certificate.pem where the server made its own certificate", "{0} 不以明文 HTTP 应答（{1}）；请使用 https://，自签名证书另加 --ca <数据目录>/tls/certificate.pem";
    NO_SERVER: "{0} is no Suanzu server; name one with --join", "{0} 不是算租服务；请用 --join 指定";
    NEEDS_OPERATOR: "only the operator may do this", "仅运营方可执行此操作";
    DO_OPERATOR: "ask the operator, or use an operator's key", "请联系运营方，或使用运营方密钥";
    ALTERNATIVE: "instead:", "可改为：";
    REQUEST_ID: "request id", "请求编号";
    DO_ACTIONS: "see ACTIONS in `suanzu lease show`", "可用操作见 `suanzu lease show`";
    DO_KEY: "give a valid key: --key, SUANZU_KEY or `suanzu context set`", "请提供有效密钥：--key、SUANZU_KEY 或 `suanzu context set`";
    DO_LIMIT: "end a lease, or ask the operator for a higher limit", "请结束部分租约，或向运营方申请提高限额";
    DO_LIST: "list what there is with the verb `list`", "用 list 查看现有对象";
    DO_MAX_PRICE: "raise --max-price, or take something cheaper: `suanzu offer list`", "请提高 --max-price，或选择更便宜的：`suanzu offer list`";
    DO_NEW_KEY: "run the command again: it sends a new key", "请重新运行命令：会发送新的幂等键";
    DO_OFFERS: "see what there is: `suanzu offer list`", "查看可租资源：`suanzu offer list`";
    DO_PUBLISH: "the operator publishes one with `suanzu price publish`", "请运营方用 `suanzu price publish` 发布价格";
    DO_READ_AGAIN: "somebody changed it meanwhile; look again and repeat", "对象已被他人修改；请重新查看后再试";
    DO_RETRY: "try again in a moment", "请稍后重试";
    DO_ROLE: "ask an admin for the role, or use another key", "请向管理员申请角色，或使用其他密钥";
    DO_TOP_UP: "top the wallet up: `suanzu wallet pay 100 --payment MY-REFERENCE`, which the operator settles once the money is there", "请充值：`suanzu wallet pay 100 --payment MY-REFERENCE`，到账后由运营方结算";
    DO_WAIT: "wait with --queue, or take an alternative", "用 --queue 排队等待，或选择替代方案";

    // Leases on their way.
    CAME_TO_REST: "{0} is {1}: {2}", "{0} {1}：{2}";
    STILL: "{0} is still {1}; look again with `suanzu lease show`", "{0} 仍为{1}；请用 `suanzu lease show` 查看";
    RUN_COST: "{0} cost {1}", "{0} 共花费 {1}";
    RUN_OUTPUT_UNREAD: "what it wrote cannot be shown: {0}", "无法显示其输出：{0}";
    RUN_ORDERED: "{0} is ordered; Ctrl-C ends it", "{0} 已下单；按 Ctrl-C 结束";
    RUN_END_REACHED: "{0} has come to the end that was set for it, with its command still running: exit code 124", "{0} 已到设定的结束时间，其命令当时仍在运行：退出码 124";
    RUN_MAY_RUN_ON: "{0} may run on and be charged: end it with `suanzu lease destroy {0}`", "{0} 可能仍在运行并计费：请用 `suanzu lease destroy {0}` 结束";
    RUN_NOT_GONE: "{0} wrote its last, but is not gone from its node; look again with `suanzu lease show`", "{0} 的输出已结束，但尚未从节点清除；请用 `suanzu lease show` 查看";
    RUN_STOPPING: "ending {0} …", "正在结束 {0} …";
    RECEIPT_KEPT: "kept in {0}; check it with `suanzu verify {0}`", "已保存到 {0}；可用 `suanzu verify {0}` 校验";
    RECEIPT_REASON: "ended: {0}", "结束原因：{0}";
    RECEIPT_NOT_YET: "{0} does not run yet; nothing is charged before it does", "{0} 尚未运行；运行之前不计费";
    RECEIPT_POSTED: "{0}, posted so far: {1}", "{0} 已入账：{1}";
    RECEIPT_RUNS: "{0} still runs, and has cost {1} until {2}; charges are posted after each hour of its run, and when it stops", "{0} 仍在运行，截至 {2} 已产生费用 {1}；费用在每运行满一小时及停止时入账";
    RECEIPT_TOTAL: "{0}, total: {1}", "{0} 合计：{1}";

    USAGE_TOTAL: "total: {0}", "合计：{0}";

    // Server and agent.
    SERVING: "serving at {0}, data in {1}", "服务地址 {0}，数据目录 {1}";
    SERVING_CERTIFICATE: "its certificate is {0}: copy it to other machines, and give it there with --ca or SUANZU_CA", "证书位于 {0}：请复制到其他机器，并用 --ca 或 SUANZU_CA 指定";
    SERVING_PLAIN: "warning: {0} listens beyond this machine without TLS: keys and everything else travel in the clear; use --tls, or [tls] in the configuration", "警告：{0} 未启用 TLS 且对本机之外监听：密钥等均以明文传输；请使用 --tls 或配置 [tls]";
    PORT_TAKEN: "{0} is taken by another process; choose another address with --listen, such as --listen 127.0.0.1:7071, or --listen 127.0.0.1:0 for any free port", "{0} 已被其他进程占用；请用 --listen 指定其他地址，如 --listen 127.0.0.1:7071，或以 --listen 127.0.0.1:0 任取空闲端口";
    FIRST_KEY: "the operator's key, shown this once: {0}", "运营方密钥（仅显示一次）：{0}";
    SIGN_IN: "console, signed in once within ten minutes: {0}", "控制台一次性登录链接（十分钟内有效）：{0}";
    AGENT_KEY: "an agent needs its key: --key or SUANZU_KEY, made with `suanzu agent add`", "节点代理需要密钥：--key 或 SUANZU_KEY，由 `suanzu agent add` 生成";
    AGENT_KEY_UNKNOWN: "the server does not know this key; give an agent's: --key or SUANZU_KEY, made at the server with `suanzu agent add NAME`", "服务不认识该密钥；请用 --key 或 SUANZU_KEY 提供节点代理的密钥，由服务端的 `suanzu agent add 名称` 生成";
    AGENT_KEY_IS_NONE: "this key is no agent's; give one with --key or SUANZU_KEY, made at the server with `suanzu agent add NAME`", "该密钥不是节点代理的密钥；请用 --key 或 SUANZU_KEY 提供，由服务端的 `suanzu agent add 名称` 生成";
    AGENT_NAME_TAKEN: "{0}: a node is known by its machine's name, and another one has this. Give the machine another hostname, or remove the old node first", "{0}：节点以主机名区分，该名称已被占用。请更换主机名，或先移除原节点";
    AGENT_NO_POOL: "there is no pool '{0}'; the operator makes it with `suanzu pool add {0}`, or name another with --pool", "没有资源池“{0}”；请运营方用 `suanzu pool add {0}` 创建，或用 --pool 指定其他资源池";
    AGENT_RUNS: "{0} runs leases for {1}; Ctrl-C ends the agent, not the leases", "{0} 正在为 {1} 运行租约；按 Ctrl-C 结束代理，不影响租约";

    // Demo.
    DEMO_WORLD: "A server of its own at {0}, data in {1}: this machine as a real pool, and simulated servers beside it, marked SIMULATED.", "演示服务 {0}，数据目录 {1}：本机为真实资源池，旁边的模拟服务器均标注“模拟”。";
    DEMO_QUOTE: "\nOne core of this machine, to count primes:", "\n租用本机一个核来数素数：";
    DEMO_ORDERED: "{0} is ordered:", "{0} 已下单：";
    DEMO_COST: "  {0}  {1}  │ {2}", "  {0}  {1}  │ {2}";
    DEMO_STOPS: "Stopping {0}; from here on it costs nothing:", "停止 {0}；此后不再计费：";
    DEMO_SUM: "\n✓ price × seconds = receipt = what left the wallet, to the tick: {0}", "\n✓ 单价 × 秒数 = 收据 = 钱包扣款，分毫不差：{0}";
    DEMO_SOUND: "✓ verified without the server: {0} (parts: {1})", "✓ 已脱离服务独立校验：{0}（{1} 个部分）";
    DEMO_DONE: "The demo has ended; nothing is left behind.", "演示结束，未留下任何内容。";
    DEMO_NEXT: "In another terminal (context '{0}' is saved), try:", "在另一个终端中（已保存上下文“{0}”）试试：";
    DEMO_SERVES: "Serving until Ctrl-C.", "持续服务，按 Ctrl-C 结束。";
    DEMO_BROKEN_OFF: "the demo was broken off; what it had rented is ended", "演示被中断；其租用的资源已结束";
    DEMO_ENDS: "Ending leases, server and context …", "正在结束租约、服务与上下文 …";
    DEMO_NOBODY_JOINED: "no agent joined", "没有节点加入";

    // Verification.
    AS_IT_IS: "{0}", "{0}";
    CANNOT_CHECK: "{0} cannot be checked: {1}", "无法校验 {0}：{1}";
    CANNOT_READ: "{0} cannot be read: {1}", "无法读取 {0}：{1}";
    EMPTY_JOURNAL: "the journal in {0} holds no entry: there is nothing to check. If something was recorded there, the journal is lost: restore journal.sqlite and keys/ from the backup. A `suanzu serve` that refused to begin a second history leaves such a file behind", "{0} 中的日志没有任何条目，无从校验。若曾有记录，则日志已丢失：请从备份恢复 journal.sqlite 与 keys/。`suanzu serve` 拒绝另起一段历史时会留下这样的空文件";
    FIELD_DIFFERS: "{0} says {1}; the proven parts say {2}", "{0} 写着 {1}；经证明的部分为 {2}";
    FIELD_MISSING: "{0} is missing; the proven parts say {1}", "缺少 {0}；经证明的部分为 {1}";
    FIELD_UNKNOWN: "{0} is no field of a receipt that this program knows: nothing proves it", "{0} 不是本程序认识的收据字段，无从证明";
    KEYS_WITHOUT_JOURNAL: "{0} has keys and no journal: the journal was lost or lies elsewhere. Restore journal.sqlite from the backup, or name the folder that holds it", "{0} 中有密钥而没有日志：日志已丢失或在别处。请从备份恢复 journal.sqlite，或指定存放它的目录";
    LIST_LENGTH: "{0} has {1} items; the proven parts say {2}", "{0} 有 {1} 项；经证明的部分为 {2} 项";
    LOG_NEEDS_KEY: "a published log is checked against its public key: --public-key keys/log.pub", "校验已发布的日志需要其公钥：--public-key keys/log.pub";
    NO_BUNDLE: "{0} holds neither a receipt nor a bundle that this program knows ({1})", "{0} 中没有本程序认识的收据或证明包（{1}）";
    NO_JSON: "{0} is no receipt and no bundle: it is not the JSON of one ({1})", "{0} 不是收据也不是证明包：其 JSON 无法读取（{1}）";
    NO_LOG: "{0} is neither a data folder, which holds journal.sqlite, nor a published log, which holds a checkpoint", "{0} 既不是数据目录（含 journal.sqlite），也不是已发布的日志（含 checkpoint）";
    NO_ORDER: "the proven parts do not hold the order of {0}", "经证明的部分中没有 {0} 的下单记录";
    NO_PUBLIC_KEY: "{0} is no public key of a log: {1}", "{0} 不是日志的公钥：{1}";
    RECEIPT_NOT_COVERED: "not covered: {0}", "不在校验范围：{0}";
    RECEIPT_SELECTED: "its owner has other parts between these; that none of them speaks of the lease shows only as far as its lines and sums leave no gap", "其所有者在这些部分之间还有其他部分；只有账单行与合计没有缺口，才能说明其中没有涉及该租约的";
    RECEIPT_SOUND_OVER: "sound: {0} is over and cost {1} CNY in all (lines: {2}); the proven parts say so, and nothing follows its end", "校验通过：{0} 已结束，共 {1} CNY（{2} 行账单）；经证明的部分如此记载，结束之后不再有记录";
    RECEIPT_SOUND_SO_FAR: "sound as of entry {3}: {0} has been charged {1} CNY (lines: {2}); what came after that entry does not show", "截至条目 {3} 校验通过：{0} 已扣费 {1} CNY（{2} 行账单）；此后的记录不在其中";
    RECEIPT_WITHOUT_LEASE: "the receipt names no lease", "收据没有写明租约";
    RECEIPT_WITHOUT_PROOF: "{0} is a receipt without its proof: get it with `suanzu lease receipt LEASE --save FILE`", "{0} 是不带证明的收据：请用 `suanzu lease receipt 租约 --save 文件` 获取";
    NOT_SOUND: "NOT SOUND, findings: {0}", "校验未通过：{0} 处问题";
    SOUND: "sound: no entry was altered; names, programs and idempotency keys lie beside the log and are not covered", "校验通过：条目未被篡改；名称、程序与幂等键在日志之外，不在校验范围";

    // Benchmarks.
    METRIC: "METRIC", "指标";
    NOT_OPTIMISED: "this build is not optimised: its figures are of no use", "此版本未经优化编译，数字没有意义";
    UNIT: "UNIT", "单位";
    VALUE: "VALUE", "数值";

    // Doctor.
    CHECK_CGROUPS: "limits", "资源限制";
    CHECK_CLOCK: "clock", "时钟";
    CHECK_CONFIG: "configuration", "配置";
    CONFIG_FIX: "mend the file; docs/operations.md lists its fields", "请修正该文件；字段见 docs/operations.md";
    CHECK_CONTAINERS: "containers", "容器引擎";
    CHECK_GPU: "GPU", "GPU";
    CHECK_KEY: "key", "密钥";
    CHECK_POOLS: "pools", "资源池";
    CHECK_PROCESSES: "processes", "进程";
    CHECK_SERVER: "server", "服务";
    CHECK_STORE: "store", "存储";
    CLOCK_APART: "this machine and the server are {0} s apart", "本机与服务端时钟相差 {0} 秒";
    CLOCK_FIX: "set both clocks by NTP (`chronyc tracking`, `timedatectl`)", "请用 NTP 校准两端时钟（`chronyc tracking`、`timedatectl`）";
    CONTAINERS_FIX: "only process leases run here; start Podman or Docker for container leases", "仅能运行进程租约；如需容器租约请启动 Podman 或 Docker";
    GPU_FIX: "only CPU leases run here; install the NVIDIA driver if there are cards", "仅能运行 CPU 租约；如有显卡请安装 NVIDIA 驱动";
    KEY_IS: "{0}, {1}", "{0}，{1}";
    LIMITS_FIX: "leases run without this limit; delegate the controller to this user, or run as root", "租约将不受该限制；请将控制器委派给当前用户，或以 root 运行";
    POOLS_EMPTY: "nothing is on offer", "没有可租资源";
    POOLS_FIX: "let an agent join, and publish prices: `suanzu agent`, `suanzu price publish`", "请接入节点并发布价格：`suanzu agent`、`suanzu price publish`";
    POOLS_OFFER: "SKUs on offer: {0}", "可租 {0} 种";
    PROCESSES_AS_ROOT: "process leases run as root here", "本机的进程租约以 root 身份运行";
    PROCESSES_AS_ROOT_FIX: "name another user in suanzu.toml, [host] run_as = { user = 65534, group = 65534 } with a state folder of its own, run `suanzu agent` as a plain user, or rent to people you trust only", "请在 suanzu.toml 中用 [host] run_as = { user = 65534, group = 65534 } 及其自有 state 目录指定其他用户，或以普通用户运行 `suanzu agent`，否则只应租给可信任的人";
    SERVER_ANSWERS: "{0} is ready", "{0} 已就绪";
    SERVER_FIX: "start one with `suanzu serve`, or name one with --url", "请用 `suanzu serve` 启动，或用 --url 指定";
    SERVER_NOT_READY: "{0} is not ready", "{0} 未就绪";
    STORE_FIX: "restore the folder from its backup, keys included; do not edit it", "请从备份恢复该目录（含密钥）；不要手工修改";
    STORE_FULL: "the disk is nearly full: {0} MiB left", "磁盘将满：剩余 {0} MiB";
    STORE_FULL_FIX: "free space on the disk of the data folder: writes stop when it is full", "请清理数据目录所在磁盘：磁盘写满后将停止写入";
    STORE_NONE: "no data folder is named; nothing to check here", "未指定数据目录，跳过";
    STORE_SOUND: "sound, entries: {0}", "{0} 条，完好";
    STORE_WRONG: "findings in {1}: {0}", "{1} 中有 {0} 处问题";
    IS_OK: "ok", "正常";
    IS_NOTE: "note", "提示";
    IS_WRONG: "WRONG", "异常";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        let mut found: Vec<String> =
            text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(n, _)| n.into()).collect();
        found.sort();
        found.dedup();
        found
    }

    #[test]
    fn both_languages_name_the_same_values_and_neither_is_empty() {
        for phrase in ALL {
            assert_eq!(values(phrase.en), values(phrase.zh), "{}", phrase.en);
            assert!(!phrase.en.is_empty() && !phrase.zh.is_empty());
        }
    }
}
