import Foundation
import RecollectCore

/// The faults in IDs, windows and merged views.
extension FaultyChatStorage {
    /// Returns the scope of the storage location; unchanged in a correct store.
    func address(_ scope: Scope) -> Scope {
        switch fault {
        case .joinsIdsWithDots:
            return Scope(userId: "\(scope.userId).\(scope.sessionId).\(scope.agentId)", sessionId: "", agentId: "")
        case .takesEmptyIdsForNone: return mapped(scope) { $0.isEmpty ? "null" : $0 }
        case .endsIdsAtNUL: return mapped(scope, Self.cutAtNUL)
        case .foldsCaseOfIds: return mapped(scope) { $0.lowercased() }
        case .comparesIdsByCanonicalEquivalence: return mapped(scope) { $0.precomposedStringWithCanonicalMapping }
        case .cutsIdsToFileNames: return mapped(scope) { String(decoding: $0.utf8.prefix(255), as: UTF8.self) }
        case .forgetsTheUser: return Scope(userId: "", sessionId: scope.sessionId, agentId: scope.agentId)
        case .forgetsTheAgent: return Scope(userId: scope.userId, sessionId: scope.sessionId, agentId: "")
        default: return scope
        }
    }

    /// Whether a drawer belongs to a session.
    func isPart(_ scope: Scope, of session: SessionKey) -> Bool {
        if fault == .findsAgentsByPrefix {
            return scope.userId == session.userId && scope.sessionId.hasPrefix(session.sessionId)
        }
        return address(scope).session == address(session.scope(agentId: scope.agentId)).session
    }

    /// Returns the key for comparisons of message IDs.
    func key(_ id: String) -> ByteString {
        switch fault {
        case .foldsCaseOfMessageIds: ByteString(id.lowercased())
        case .endsMessageIdsAtNUL: ByteString(Self.cutAtNUL(id))
        default: ByteString(id)
        }
    }

    static func cutAtNUL(_ text: String) -> String {
        String(decoding: text.utf8.prefix { $0 != 0 }, as: UTF8.self)
    }

    private func mapped(_ scope: Scope, _ transform: (String) -> String) -> Scope {
        Scope(userId: transform(scope.userId), sessionId: transform(scope.sessionId), agentId: transform(scope.agentId))
    }

    // MARK: - Windows

    /// Returns the number of messages for a budget.
    func size(_ budget: Int?) -> Int? {
        guard let budget else { return fault == .capsAtTheDefault ? ChatStorageDefaults.maxMessages : nil }
        guard budget > 1 else { return 0 }
        return fault == .splitsPairsOnOddBudgets ? budget : budget - budget % 2
    }

    /// Returns the window of a fetch with a budget.
    func window(_ messages: [ConversationMessage], budget: Int?) -> [ConversationMessage] {
        guard let size = size(budget) else { return messages }
        switch fault {
        case .givesTheFirst: return Array(messages.prefix(size))
        case .takesNoBudgetForAll where size == 0: return messages
        case .cutsWindowsAtAnExchange: return Array(messages.suffix(size).drop { $0.role == .tool })
        default: return messages.suffix(size)
        }
    }

    /// Returns the window after a save with a budget.
    func trimmed(_ messages: [ConversationMessage], budget: Int?) -> [ConversationMessage] {
        guard fault != .trimsAtFetchOnly, let size = size(budget), size < messages.count else { return messages }
        if fault == .neverTrimsToNothing && size == 0 { return messages }
        let saved = messages.suffix(size)
        let grows = fault == .growsAWindowToItsCall && saved.first?.role == .tool
        return grows ? messages.suffix(size + 1) : Array(saved)
    }

    // MARK: - Order

    /// Returns the messages of a scope, in their order.
    func presented(_ messages: [ConversationMessage]) -> [ConversationMessage] {
        switch fault {
        case .sortsByClock: return Self.sorted(messages) { $0.timestamp < $1.timestamp }
        case .sortsTiesById:
            return messages.isEmpty || Set(messages.map(\.timestamp)).count > 1
                ? messages : messages.sorted { $0.id < $1.id }
        case .hidesHalves: return messages.wholeExchanges()
        default: return messages
        }
    }

    /// Returns the merged view of drawers.
    func merged(_ drawers: [ShelfState.Drawer]) -> [ConversationMessage] {
        let scopes = drawers.map { drawer in
            AgentMessages(
                agentId: drawer.scope.agentId,
                messages: fault == .mergesWhatWasTrimmed ? drawer.everything : drawer.messages)
        }
        let byID = Dictionary(
            scopes.flatMap(\.messages).map { (ByteString($0.id), $0) }, uniquingKeysWith: { first, _ in first })
        func original(_ message: ConversationMessage) -> ConversationMessage { byID[ByteString(message.id)] ?? message }
        let merged = MergedChats.merge(scopes)
        switch fault {
        case .attributesNothing: return merged.map(original)
        case .attributesEveryRole:
            return merged.map { message in
                message.role == .assistant ? message : message.mappingText { "[agent] " + $0 }
            }
        case .attributesTextOnly: return merged.map { original($0).text.isEmpty ? original($0) : $0 }
        case .concatenatesAgents:
            return scopes.sorted { $0.agentId < $1.agentId }.flatMap { scope in
                scope.messages.map { $0.attributed(agentId: scope.agentId) }
            }
        case .sortsTheMergedView: return Self.sorted(merged) { $0.timestamp < $1.timestamp }
        case .breaksTiesIgnoringCase:
            let agents = scopes.sorted {
                ($0.agentId.lowercased(), $0.agentId) < ($1.agentId.lowercased(), $1.agentId)
            }
            let all = agents.flatMap { scope in scope.messages.map { $0.attributed(agentId: scope.agentId) } }
            return Self.sorted(all) { $0.timestamp < $1.timestamp }
        default: return merged
        }
    }

    /// Returns the elements sorted, with a stable order of equal elements.
    private static func sorted(
        _ messages: [ConversationMessage], by isBefore: (ConversationMessage, ConversationMessage) -> Bool
    ) -> [ConversationMessage] {
        messages.enumerated().sorted { left, right in
            if isBefore(left.element, right.element) { return true }
            return isBefore(right.element, left.element) ? false : left.offset < right.offset
        }.map(\.element)
    }
}
