#if CommandLine
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import Testing

    @Suite("Chats at a terminal", .needs(.processes))
    struct ChatTerminalTests {
        private func terminal(_ recall: RecallProcess, _ arguments: String...) throws -> TestTerminal {
            var environment = recall.environment
            environment["TERM"] = "xterm"
            environment["LC_ALL"] = "C.UTF-8"
            environment["NO_COLOR"] = "1"
            return try TestTerminal(
                RecallProcess.executable(), ["chat"] + arguments, environment: environment)
        }

        private func said(_ recall: RecallProcess) async throws -> [String] {
            let sessions = try await recall.run("sessions", "--json").json().arrayValue ?? []
            guard let session = sessions.first?["id"]?.stringValue else { return [] }
            return try await recall.run("show", session, "--json").json().arrayValue?
                .filter { $0["role"] == "user" }.compactMap { $0["text"]?.stringValue } ?? []
        }

        @Test("Lines can be edited, with wide characters, and ↑ recalls them, also in the next chat")
        func editing() async throws {
            let recall = try RecallProcess()
            let terminal = try terminal(recall)
            try await terminal.expect("› ")
            // Moves back two characters and inserts another one.
            terminal.type("note: 漢字é\u{1B}[D\u{1B}[Dx\r")
            try await terminal.expect("▌ Scribe")
            try await terminal.expect("› ")
            terminal.type("\u{1B}[A again\r")
            try await terminal.expect("▌ Scribe")
            try await terminal.expect("› ")
            terminal.type("\u{4}")
            #expect(await terminal.end() == 0)
            #expect(try await said(recall) == ["note: 漢x字é", "note: 漢x字é again"])
            let next = try self.terminal(recall)
            // The last messages are shown before the prompt.
            try await next.expect("again")
            try await next.expect("› ")
            next.type("\u{1B}[A\u{1B}[A!\r")
            try await next.expect("▌ Scribe")
            try await next.expect("› ")
            next.type("/quit\r")
            #expect(await next.end() == 0)
            #expect(try await said(recall).last == "note: 漢x字é!")
            let file = recall.store + "/chat-history"
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }

        @Test("Replies break between words at the terminal's width")
        func wrapping() async throws {
            // Its folder is removed with it.
            let recall = try RecallProcess()
            defer { withExtendedLifetime(recall) {} }
            let terminal = try terminal(recall)
            try await terminal.expect("› ")
            terminal.type("what did we say about greenhouse thermostat calibration?\r")
            try await terminal.expect("▌ Historian")
            try await terminal.expect(
                "“greenhouse”, “thermostat” and “calibration”. I searched \r\nall your sessions.\r\n")
            try await terminal.expect("› ")
            terminal.type("/quit\r")
            #expect(await terminal.end() == 0)
        }

        @Test("A paste of several lines is one message")
        func paste() async throws {
            let recall = try RecallProcess()
            let terminal = try terminal(recall)
            try await terminal.expect("\u{1B}[?2004h")
            try await terminal.expect("› ")
            terminal.type("note: \u{1B}[200~one\rtwo\r\u{1B}[201~ three\r")
            try await terminal.expect("▌ Scribe")
            try await terminal.expect("› ")
            terminal.type("\u{4}")
            #expect(await terminal.end() == 0)
            #expect(try await said(recall) == ["note: one\ntwo three"])
            #expect(terminal.everything.hasSuffix("\u{1B}[?2004l"), "the terminal's mode is restored")
        }

        @Test("Ctrl-C clears the line; at an empty prompt it explains how to leave, and then leaves")
        func interrupting() async throws {
            let recall = try RecallProcess()
            let terminal = try terminal(recall)
            try await terminal.expect("› ")
            terminal.type("never said\u{3}")
            try await terminal.expect("› ")
            terminal.type("\u{3}")
            try await terminal.expect("press Ctrl-C again")
            try await terminal.expect("› ")
            // Typing in between resets the count: this one clears the line again.
            terminal.type("x\u{3}")
            try await terminal.expect("› ")
            terminal.type("\u{3}")
            try await terminal.expect("press Ctrl-C again")
            try await terminal.expect("› ")
            terminal.type("\u{3}")
            #expect(await terminal.end() == 130)
            #expect(try await said(recall).isEmpty)
        }

        @Test("A signal at the prompt ends the chat with the signal's exit code", arguments: [SIGTERM, SIGHUP, SIGINT])
        func ending(signal: Int32) async throws {
            // Its folder is removed with it.
            let recall = try RecallProcess()
            defer { withExtendedLifetime(recall) {} }
            let terminal = try terminal(recall)
            try await terminal.expect("› ")
            terminal.send(signal)
            let code = await terminal.end()
            #expect(code == 128 + signal, "\(terminal.everything)")
            #expect(terminal.everything.hasSuffix("\u{1B}[?2004l"))
        }
    }
#endif
