import Foundation
import Recollect

/// Search, with its faults.
extension FaultyHistoryStore {
    func search(_ query: SearchQuery) async throws -> Page<SearchHit, SearchCursor> {
        var asked = query
        asked.userId = saved(query.userId)
        asked.sessionId = query.sessionId.map { saved(SessionKey(userId: "", sessionId: $0)).sessionId }
        switch fault {
        case .refusesQuotes where query.text.contains("\""):
            throw RecollectError(.invalidArgument, "syntax error near \"")
        case .findsTheFirstWord: asked.text = String(query.text.prefix { $0 != " " })
        case .searchesForFields: asked.text = query.text.filter { $0 != ":" }
        case .searchesForSigns: asked.text = query.text.filter { !"+-\"".contains($0) }
        case .ordersByRelevance: asked.order = .relevance
        case .showsAllHitsOfASession: asked.maxHitsPerSession = nil
        case .takesTimesForWords: asked.text = query.text.replacing("yesterday", with: "\"yesterday\"")
        case .countsHitsOfEarlierPages where query.cursor != nil:
            let shown = memory.withLock { $0.shownHits }
            (asked.cursor, asked.limit) = (nil, .max)
            var page = try await base.search(asked)
            page = Page(elements: Array(page.elements.dropFirst(shown).prefix(query.limit)), next: nil)
            return page
        case .takesUntilForInside: asked.until = query.until?.addingTimeInterval(0.001)
        case .showsCopies where query.sessionId == nil: return try await everySession(asked)
        case .findsEachAgents where query.agentId == nil: return try await everyAgent(asked)
        default: break
        }
        var page = try await base.search(asked)
        if fault == .countsHitsOfEarlierPages { memory.withLock { $0.shownHits = page.elements.count } }
        if fault == .losesOneAfterEachSearchPage && query.cursor != nil {
            page.elements = Array(page.elements.dropFirst())
        }
        var hits: [SearchHit] = []
        for hit in page.elements where try await shows(hit, for: query) { hits.append(shown(hit)) }
        switch fault {
        case .searchesOneSession: hits = hits.filter { $0.session == hits.first?.session }
        case .showsEachIdOnce:
            var seen: Set<String> = []
            hits = hits.filter { seen.insert($0.messageId).inserted }
        default: break
        }
        page.elements = hits
        return page
    }

    /// Returns the hits of each session separately, including copied messages.
    private func everySession(_ query: SearchQuery) async throws -> Page<SearchHit, SearchCursor> {
        var hits: [SearchHit] = []
        for session in try await base.sessions(of: query.userId, page: PageRequest(limit: 1000)).elements {
            var query = query
            query.sessionId = session.id.sessionId
            hits += try await base.search(query).elements
        }
        return Page(elements: Array(hits.prefix(query.limit)), next: nil)
    }

    /// Returns the hits of each agent separately, including shared messages.
    private func everyAgent(_ query: SearchQuery) async throws -> Page<SearchHit, SearchCursor> {
        var hits: [SearchHit] = []
        let all = try await base.sessions(of: query.userId, page: PageRequest(limit: 1000)).elements
        for agent in Set(all.flatMap(\.agentIds)).sorted() {
            var query = query
            query.agentId = agent
            hits += try await base.search(query).elements
        }
        return Page(elements: Array(hits.prefix(query.limit)), next: nil)
    }

    private func shown(_ hit: SearchHit) -> SearchHit {
        var hit = hit
        switch fault {
        case .marksNothing: hit.snippet.runs = hit.snippet.runs.map { Snippet.Run(text: $0.text, isMatch: false) }
        case .takesAllForUsers: hit.role = .user
        case .scoresNothing: hit.score = 1
        case .correctsSilently: hit.correctedWords = [:]
        default: break
        }
        return hit
    }

    /// Whether a search with the fault returns the hit.
    private func shows(_ hit: SearchHit, for query: SearchQuery) async throws -> Bool {
        if fault == .indexesLater { return hit.messageId != memory.withLock { $0.hiddenID } }
        if fault == .losesEditedMessagesInSearch { return !memory.withLock { $0.editedIDs.contains(hit.messageId) } }
        if fault == .searchesNoBranches { return try await base.session(hit.session)?.branchPoint == nil }
        if fault == .requiresAllWords { return hit.missingWords.isEmpty }
        let isChinese = query.text.unicodeScalars.contains { $0.value > 0x3000 }
        let text = try await base.message(hit.messageId, in: hit.session)?.message.text ?? ""
        let words = query.text.lowercased().split(separator: " ")
        switch fault {
        case .findsWholeWords where !isChinese:
            let tokens = Set(Self.folded(text).split { !$0.isLetter && !$0.isNumber }.map(String.init))
            return words.allSatisfy { tokens.contains(Self.folded($0)) }
        case .findsBeginningsOfWords where !isChinese:
            let tokens = Self.folded(text).split(separator: " ")
            return words.allSatisfy { word in tokens.contains { $0.hasPrefix(Self.folded(word)) } }
        case .keepsAccentsApart: return words.allSatisfy { text.lowercased().contains($0) }
        case .findsBeginningsOfChinese where isChinese: return words.allSatisfy { text.hasPrefix($0) }
        default: return true
        }
    }

    private static func folded(_ text: some StringProtocol) -> String {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }
}
