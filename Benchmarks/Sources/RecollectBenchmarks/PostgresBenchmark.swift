import Foundation
import Recollect

#if Postgres
    import RecollectPostgres
    import RecollectTesting

    /// Saves, windows, lists, searches and the change feed of a history in PostgreSQL, on a durable server of its own. The baselines are
    /// run by `pgbench`: the same rows in the same tables, without the library.
    func postgresLines(_ sizes: Sizes) async throws -> [Line] {
        let server = try await PostgresTestServer.start(
            PostgresTestServer.Configuration(
                isDurable: true,
                settings: [
                    "shared_buffers = '1GB'", "autovacuum = on", "max_wal_size = '4GB'", "max_connections = 200",
                ]))
        let url = try await server.createDatabase()
        var configuration = PostgresConfiguration()
        configuration.maxConnections = 64
        let history = try PostgresHistoryStore(url: url, configuration: configuration)
        try await history.migrate()
        let bench = PostgresBench(history: history, bare: try BarePostgres(url: url))
        var lines = try await bench.turnLines(rounds: max(3, sizes.rounds / 8))
        lines.append(try await bench.standbyLine(server, rounds: max(3, sizes.rounds / 8)))
        lines += try await bench.searchLines(messages: sizes.messages, users: sizes.users)
        lines += try await bench.feedLines(changes: sizes.messages / 5)
        lines += try await bench.windowLines(messages: sizes.messages, rounds: sizes.rounds)
        lines += try await bench.listLines(sessions: sizes.library, rounds: sizes.rounds)
        history.close()
        lines += try await postgresGrowthLines(
            server, from: 10_000, to: sizes.messages * 10, rounds: sizes.rounds)
        lines += try await peerLines("PostgreSQL: ", turns: sizes.peerTurns, rounds: 3) { body in
            let history = try PostgresHistoryStore(url: try await server.createDatabase())
            try await history.migrate()
            try await body(history, try await server.createDatabase())
            history.close()
        }
        try await server.stop()
        return lines
    }

    private struct PostgresBench {
        let history: PostgresHistoryStore
        let bare: BarePostgres

        // MARK: - Turns

        func turnLines(rounds: Int) async throws -> [Line] {
            let sessions = 64
            for user in ["bench", "bare"] {
                for session in 0..<sessions {
                    try await history.append(
                        Turn.messages(0), to: Scope(userId: user, sessionId: "session \(session)", agentId: "agent"))
                }
            }
            // The baseline finds its sessions by small numbers.
            try bare.execute(
                """
                CREATE TABLE bare AS SELECT row_number() OVER (ORDER BY session) AS number, session
                FROM recollect.session WHERE user_id = 'bare';
                CREATE UNIQUE INDEX bare_number ON bare (number);
                """)
            var lines: [Line] = []
            for (name, tasks, many, target, isRate) in [
                ("a durable turn of two messages, one client", 1, true, 1.3, false),
                ("64 tasks save durably, each in a session of its own", 64, true, 1.2, true),
                ("64 tasks save durably in one session", 64, false, 1, true),
            ] {
                let script = try bare.turn(many ? sessions : 1)
                var (ours, baseline, prepared) = ([Double](), [Double](), [Double]())
                for round in 0..<rounds {
                    let saved = try await saveTurns(tasks: tasks, inOwnSessions: many, round: round)
                    let each = max(1, saved.count / tasks)
                    ours.append(saved.perSecond)
                    baseline.append(
                        try bare.transactionsPerSecond(script, .extended, clients: tasks, each: each))
                    prepared.append(
                        try bare.transactionsPerSecond(script, .prepared, clients: tasks, each: each))
                }
                func rate(_ values: [Double]) -> String { "\(Int(values.sorted()[rounds / 2])) turns/s" }
                func ratio(to baseline: [Double]) -> Double {
                    let ratio = zip(ours, baseline).map { $0 / $1 }.sorted()[rounds / 2]
                    return isRate ? ratio : 1 / ratio
                }
                let reached = ratio(to: baseline)
                lines += [
                    Line(
                        work: "PostgreSQL: \(name); the baseline is `pgbench -M extended` with as many clients",
                        ours: rate(ours), baseline: rate(baseline), ratio: reached,
                        target: isRate ? "≥ \(target)" : "≤ \(target)",
                        isMet: isRate ? reached >= target : reached <= target),
                    Line(
                        work: "PostgreSQL: the same; the baseline is `pgbench -M prepared`", ours: rate(ours),
                        baseline: rate(prepared), ratio: ratio(to: prepared)),
                ]
            }
            return lines
        }

        /// Compares 64 tasks of a primary with a synchronous standby with the same tasks before it had one.
        func standbyLine(_ server: PostgresTestServer, rounds: Int) async throws -> Line {
            func perSecond() async throws -> Double {
                var rates: [Double] = []
                for round in 0..<rounds {
                    rates.append(try await saveTurns(tasks: 64, inOwnSessions: true, round: round).perSecond)
                }
                return rates.sorted()[rounds / 2]
            }
            let alone = try await perSecond()
            let standby = try await server.startStandby()
            let copied = try await perSecond()
            try await server.execute("ALTER SYSTEM RESET synchronous_standby_names")
            try await server.execute("SELECT pg_reload_conf()")
            try await standby.stop()
            return Line(
                work: "PostgreSQL: 64 tasks save durably, with a synchronous standby; the baseline is without",
                ours: "\(Int(copied)) turns/s", baseline: "\(Int(alone)) turns/s", ratio: copied / alone)
        }

        /// Saves turns for two seconds.
        private func saveTurns(
            tasks: Int, inOwnSessions: Bool, round: Int
        ) async throws -> (count: Int, perSecond: Double) {
            let end = ContinuousClock.now + .seconds(2)
            let start = ContinuousClock.now
            let count = try await withThrowingTaskGroup(of: Int.self) { group in
                for task in 0..<tasks {
                    let scope = Scope(
                        userId: "bench", sessionId: "session \(inOwnSessions ? task : 0)", agentId: "agent")
                    group.addTask { [history] in
                        var count = 0
                        while ContinuousClock.now < end {
                            try await history.append(Turn.messages(round), to: scope)
                            count += 1
                        }
                        return count
                    }
                }
                return try await group.reduce(0, +)
            }
            return (count, Double(count) / ((ContinuousClock.now - start) / .seconds(1)))
        }

        // MARK: - Searches

        func searchLines(messages count: Int, users: Int) async throws -> [Line] {
            var questions: [(user: String, text: String)] = []
            let filling = try await time {
                questions = try await fill(messages: count, users: (0..<users).map { "user \($0)" })
            }
            try bare.analyze()
            let before = try await search(questions)
            _ = try await fill(messages: count, users: ["another user"])
            try bare.analyze()
            let after = try await search(questions)
            let growth = after.median / before.median
            return [
                Line(
                    work: "PostgreSQL: save \(count) messages of \(users) users with their words, 500 at a time",
                    ours: Line.text(Double(filling) / 1_000)),
                Line(
                    work: "PostgreSQL: search by whole questions, \(count) messages of \(users) users",
                    ours: Line.text(before.median), worst: Line.text(before.worst), target: "p99 ≤ 100 ms",
                    isMet: before.worst <= 100_000),
                Line(
                    work:
                        "PostgreSQL: the same searches beside \(count) messages of another user; the baseline is before",
                    ours: Line.text(after.median), worst: Line.text(after.worst), baseline: Line.text(before.median),
                    ratio: growth, target: "p99 ≤ 100 ms", isMet: after.worst <= 100_000),
            ]
        }

        /// Saves messages of users in sessions of 500. Returns some of their questions.
        private func fill(messages count: Int, users: [String]) async throws -> [(user: String, text: String)] {
            var chat = InventedChat()
            var questions: [(user: String, text: String)] = []
            let size = 500
            try await withThrowingTaskGroup(of: Void.self) { group in
                for session in 0..<count / size {
                    if session >= 4 { try await group.next() }
                    let messages = (0..<size).map { _ in chat.next() }
                    let user = users[session % users.count]
                    if questions.count < 500, let question = messages.first(where: { $0.role == .user }) {
                        questions.append((user, question.text))
                    }
                    let scope = Scope(userId: user, sessionId: "session \(session)", agentId: "agent \(session % 3)")
                    group.addTask { [history] in try await history.append(messages, to: scope) }
                }
                try await group.waitForAll()
            }
            return questions
        }

        private func search(_ questions: [(user: String, text: String)]) async throws -> Samples {
            for question in questions.prefix(20) {
                _ = try await history.search(SearchQuery(userId: question.user, text: question.text))
            }
            var samples = Samples()
            for question in questions {
                samples.add(
                    try await time {
                        let found = try await history.search(SearchQuery(userId: question.user, text: question.text))
                        precondition(!found.elements.isEmpty, "no message has \(question.text)")
                    })
            }
            return samples
        }

        // MARK: - Reading

        func feedLines(changes count: Int) async throws -> [Line] {
            let first = try bare.first(
                "SELECT sequence FROM recollect.message ORDER BY sequence DESC OFFSET \(count) LIMIT 1")
            let cursor = ChangeCursor(sequence: Int64(first) ?? 0)
            var read = 0
            let ours = try await time {
                for try await _ in history.changes(after: cursor) {
                    read += 1
                    if read == count { break }
                }
            }
            let scan = """
                SELECT m.sequence, m.message_id, s.session_id, c.agent_id FROM recollect.message AS m
                JOIN recollect.session AS s USING (user_id, session) JOIN recollect.scope AS c USING (user_id, session, scope)
                WHERE m.sequence > \(first) ORDER BY m.sequence LIMIT \(count);
                """
            let baseline = try bare.microseconds(scan, transactions: 2)
            let ratio = Double(ours) / 1_000 / baseline
            return [
                Line(
                    work: "PostgreSQL: follow \(count) changes; the baseline is one scan of them",
                    ours: Line.text(Double(ours) / 1_000), baseline: Line.text(baseline), ratio: ratio, target: "≤ 2",
                    isMet: ratio <= 2)
            ]
        }

        func windowLines(messages count: Int, rounds: Int) async throws -> [Line] {
            let scope = Scope(userId: "reader", sessionId: "long", agentId: "agent")
            var chat = InventedChat()
            for _ in 0..<count / 1_000 {
                try await history.append((0..<1_000).map { _ in chat.next() }, to: scope)
            }
            let session = try bare.first("SELECT session FROM recollect.session WHERE user_id = 'reader'")
            return [
                try await line(
                    "PostgreSQL: the last 100 messages of a session of \(count); the baseline is the query by key",
                    rounds: rounds,
                    baseline: """
                        SELECT message_id, role, timestamp, metadata, unknown_fields, text, parts FROM recollect.message
                        WHERE user_id = 'reader' AND session = \(session) AND scope = 1 ORDER BY position DESC LIMIT 100;
                        """
                ) { _ = try await history.window(of: scope, maxMessages: 100) }
            ]
        }

        func listLines(sessions count: Int, rounds: Int) async throws -> [Line] {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for session in 0..<count {
                    if session >= 32 { try await group.next() }
                    group.addTask { [history] in
                        try await history.append(
                            [ConversationMessage(role: .user, text: "Question \(session)")],
                            to: Scope(userId: "lister", sessionId: "session \(session)", agentId: "agent"))
                    }
                }
                try await group.waitForAll()
            }
            try bare.analyze()
            return [
                try await line(
                    "PostgreSQL: the first 50 of \(count) sessions; the baseline is the query by key", rounds: rounds,
                    baseline: """
                        SELECT * FROM recollect.session WHERE user_id = 'lister' AND branch_of IS NULL AND discarded_at IS NULL
                        ORDER BY last_activity DESC, session_id DESC LIMIT 50;
                        """
                ) {
                    _ = try await history.sessions(
                        SessionQuery(userId: "lister", order: .lastActivity), page: PageRequest(limit: 50))
                }
            ]
        }

        /// Compares an operation with a query of `pgbench`, in alternating sections.
        private func line(
            _ work: String, rounds: Int, baseline sql: String, _ body: () async throws -> Void
        ) async throws -> Line {
            var samples = Samples()
            var ratios: [Double] = []
            var baselines: [Double] = []
            for _ in 0..<5 {
                var section = Samples()
                for _ in 0..<rounds { section.add(try await time(body)) }
                let baseline = try bare.microseconds(sql, transactions: rounds)
                for nanoseconds in section.nanoseconds { samples.add(nanoseconds) }
                ratios.append(section.median / baseline)
                baselines.append(baseline)
            }
            let ratio = ratios.sorted()[2]
            return Line(
                work: work, ours: Line.text(samples.median), worst: Line.text(samples.worst),
                baseline: Line.text(baselines.sorted()[2]), ratio: ratio, target: "≤ 1.5", isMet: ratio <= 1.5)
        }
    }

    /// The baselines, run by `pgbench` and `psql`.
    final class BarePostgres {
        /// The protocol of `pgbench`: the server plans each statement anew, or once per connection.
        enum Statements: String {
            case extended
            case prepared
        }

        private let url: String
        private let folder: Folder

        init(url: String) throws {
            self.url = url
            folder = try Folder()
        }

        func execute(_ sql: String) throws {
            _ = try ChildProcess.run("psql", ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql])
        }

        /// Samples the tables of a history that our statements read. The others belong to the superuser.
        func analyze() throws {
            try execute("ANALYZE recollect.session, recollect.scope, recollect.message")
        }

        func first(_ sql: String) throws -> String {
            try ChildProcess.run("psql", ["-X", "-q", "-A", "-t", "-d", url, "-c", sql]).output
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }

        /// The script that saves a turn in one of the first sessions of the table `bare`.
        func turn(_ sessions: Int) throws -> String {
            let terms = try ["user", "assistant"].map { role in
                try first(
                    """
                    SELECT array_to_string(tsvector_to_array(terms), ' ') FROM recollect.message
                    WHERE user_id = 'bare' AND role = '\(role)' LIMIT 1
                    """)
            }
            return """
                \\set number random(1, \(sessions))
                WITH head AS (
                  UPDATE recollect.session SET revision = revision # 1, last_position = last_position + 2097152,
                    added = added + 2, message_count = message_count + 2,
                    last_activity = greatest(last_activity, 1760000000000)
                  WHERE user_id = 'bare' AND session = (SELECT session FROM bare WHERE number = :number)
                  RETURNING session, recollect.feed_number() AS feed, last_position, added
                )
                INSERT INTO recollect.message (
                  user_id, session, scope, position, sequence, number, timestamp, message_id, role, text, terms)
                SELECT 'bare', session, 1, last_position - 1048576 * back, feed + 1 - back, added - back, 1760000000000,
                  convert_to(gen_random_uuid()::text, 'UTF8'), role::bytea, body::bytea,
                  array_to_tsvector(string_to_array(terms, ' '))
                FROM head, (VALUES
                  (1, 'user', '\(Turn.question)', '\(terms[0])'), (0, 'assistant', '\(Turn.answer)', '\(terms[1])')
                ) AS row (back, role, body, terms);

                """
        }

        /// Runs a script as often as given, in each client. By count, because `pgbench` ends a given time by a signal, which is blocked
        /// in child processes of Dispatch's threads.
        func transactionsPerSecond(
            _ script: String, _ statements: Statements, clients: Int, each transactions: Int
        ) throws -> Double {
            try pgbench(
                script, statements, ["-c", "\(clients)", "-j", "\(min(2, clients))", "-t", "\(transactions)"], "tps = ")
        }

        /// Returns the mean time of a query.
        func microseconds(_ sql: String, transactions: Int) throws -> Double {
            try pgbench(sql, .prepared, ["-c", "1", "-t", "\(transactions)"], "latency average = ") * 1_000
        }

        private func pgbench(
            _ script: String, _ statements: Statements, _ arguments: [String], _ label: String
        ) throws -> Double {
            let file = folder.path("script.sql")
            try script.write(toFile: file, atomically: true, encoding: .utf8)
            let options = ["-n", "-M", statements.rawValue, "-f", file]
            let output = try ChildProcess.run("pgbench", options + arguments + [url]).output
            let value = output.split(separator: "\n").first { $0.hasPrefix(label) }?.dropFirst(label.count)
                .prefix { $0.isNumber || $0 == "." }
            guard let number = value.flatMap({ Double($0) }) else {
                throw ChildProcess.Failure(description: "pgbench printed no \(label): \(output)")
            }
            return number
        }
    }
#else
    func postgresLines(_ sizes: Sizes) async throws -> [Line] {
        print("postgres: not built; use `make bench`")
        return []
    }
#endif
