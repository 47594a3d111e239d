#if CommandLine
    import Recollect

    /// Search hits as lines for people.
    extension StoreOptions {
        /// Returns the lines of the hits, in order or grouped by session: for each hit its session and author, and its text
        /// with the matches marked. Hits without some of the words have a heading, and name them. The first line names
        /// corrected words.
        /// - Parameters:
        ///   - isFirstPage: Whether no hits were skipped.
        ///   - hasMore: Whether more hits follow.
        func lines(
            of found: FoundMessages, isGrouped: Bool = false, isFirstPage: Bool = true, hasMore: Bool = false,
            in history: any HistoryStore, style: Style
        ) async throws -> [String] {
            guard !found.messages.isEmpty else { return ["Nothing found."] }
            let hits = found.messages.map(\.hit)
            let names = try await names(of: Set(hits.map(\.session)), in: history)
            let lines = SearchLines(names: names, style: style, isFirstPage: isFirstPage, hasMore: hasMore)
            let body = isGrouped ? lines.groups(of: found.messages) : lines.list(of: found.messages)
            return lines.corrections(in: hits) + body.dropLast()
        }

        /// Returns the short IDs and the titles of sessions.
        private func names(
            of sessions: Set<SessionKey>, in history: any HistoryStore
        ) async throws -> [SessionKey: (shortId: String, title: String)] {
            var names: [SessionKey: (shortId: String, title: String)] = [:]
            for id in sessions {
                let session = try await history.session(id)
                // A branch is found by its whole ID only.
                let isBranch = session?.branchPoint != nil
                let shown = isBranch ? id.sessionId : try await shortId(of: id.sessionId, in: history)
                names[id] = (shown, (session?.displayTitle ?? "").oneLine)
            }
            return names
        }
    }

    private struct SearchLines {
        let names: [SessionKey: (shortId: String, title: String)]
        let style: Style
        let isFirstPage: Bool
        let hasMore: Bool
        let format = Format()

        /// The maximum number of characters of a message next to a hit.
        private static let neighborLength = 160

        func corrections(in hits: [SearchHit]) -> [String] {
            var corrections: [String: String] = [:]
            for hit in hits { corrections.merge(hit.correctedWords) { first, _ in first } }
            let corrected = corrections.sorted { $0.key < $1.key }.map { "“\($0.oneLine)” to “\($1.oneLine)”" }
            return corrected.isEmpty ? [] : [style.dim("Corrected \(corrected.joined(separator: ", ")).\n")]
        }

        /// Returns the hits in order.
        func list(of messages: [FoundMessages.Message]) -> [String] {
            let firstIncomplete = messages.firstIndex { !$0.hit.missingWords.isEmpty }
            return messages.enumerated().flatMap { index, message in
                let (shortId, title) = name(of: message.hit.session)
                let heading = "\(style.cyan(shortId))  \(author(of: message.hit))  \(style.dim(title.cut(to: 60)))"
                let note = index == firstIncomplete ? [style.dim(incompleteNote(from: messages[index...])), ""] : []
                return note + [heading] + body(of: message) + [""]
            }
        }

        /// Returns the hits of each session together, the session with the first hit first.
        func groups(of messages: [FoundMessages.Message]) -> [String] {
            var order: [SessionKey] = []
            for message in messages where !order.contains(message.hit.session) { order.append(message.hit.session) }
            return order.flatMap { session in
                let (shortId, title) = name(of: session)
                let hits = messages.filter { $0.hit.session == session }
                var lines = ["\(style.cyan(shortId))  \(style.dim(title.cut(to: 100)))"]
                for hit in hits { lines += ["  \(author(of: hit.hit))"] + body(of: hit) }
                return lines + [""]
            }
        }

        private func name(of session: SessionKey) -> (shortId: String, title: String) {
            let name = names[session] ?? (session.sessionId, "")
            return (name.shortId.oneLine, name.title)
        }

        private func author(of hit: SearchHit) -> String {
            "\(hit.role.rawValue.oneLine) \(style.dim(hit.agentId.oneLine))  \(format.short(hit.timestamp))"
        }

        /// Returns the note before the first hit without some of the words.
        private func incompleteNote(from messages: ArraySlice<FoundMessages.Message>) -> String {
            // A message next to others may have none of the words.
            guard isFirstPage, messages.startIndex == 0, let first = messages.first?.hit, !first.matchedWords.isEmpty
            else { return "Messages with some of these words, or next to them:" }
            let count = messages.count { $0.hit.missingWords == first.missingWords }
            let words = first.missingWords.map { "“\($0.oneLine)”" }.joined(separator: ", ")
            let number = "\(hasMore ? "at least " : "")\(count) \(count == 1 ? "does" : "do")"
            return "No message has all of these words; without \(words), \(number):"
        }

        private func body(of message: FoundMessages.Message) -> [String] {
            let snippet = message.hit.snippet.runs.map { run in
                let text = run.text.visible.replacingOccurrences(of: "\n", with: " ")
                return run.isMatch ? (style.isOn ? style.match(text) : "«\(text)»") : text
            }
            let missing = message.hit.missingWords.map { "“\($0.oneLine)”" }.joined(separator: ", ")
            return (message.before ?? []).map(neighbor) + ["    \(snippet.joined())"]
                + (missing.isEmpty ? [] : [style.dim("    without \(missing)")]) + (message.after ?? []).map(neighbor)
        }

        private func neighbor(_ stored: StoredMessage) -> String {
            let text = stored.message.readableText.oneLine.cut(to: Self.neighborLength)
            return style.dim("    | \(stored.message.role.rawValue.oneLine): \(text)")
        }
    }
#endif
