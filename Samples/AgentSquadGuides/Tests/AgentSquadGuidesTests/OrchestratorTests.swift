import AgentSquad
import AgentSquadGuides
import Foundation
import Testing

@Suite("An orchestrator with every store of the guides")
struct OrchestratorTests {
    @Test("keeps turns, and an orchestrator made later goes on with them", arguments: Stores.allCases)
    func converse(_ kind: Stores) async throws {
        let location = "recollect-samples-\(UUID().uuidString)"
        defer { kind.remove(location) }
        let saved = kind.isForgetful ? try kind.open(location) : nil
        for turn in 1...3 {
            let store = try saved ?? kind.open(location)
            let orchestrator = Orchestrator(agents: [Echo(), Counter()], classifier: ByName(), store: store)
            var said = ""
            let stream = orchestrator.route(.text("count please"), userId: "user", sessionId: "trip")
            for try await event in stream {
                if case .textDelta(let text) = event { said += text }
            }
            #expect(said == "\((turn - 1) * 2) messages before this")
        }
        let store = try saved ?? kind.open(location)
        let chats = try await store.fetchAllChats(userId: "user", sessionId: "trip")
        #expect(chats.count == 6)
        #expect(chats.last?.text == "[counter] 4 messages before this")
    }

    @Test("as the guides write it, is made without touching the disk")
    func samples() throws {
        _ = defaultFileStore(agent: Echo())
        _ = customStore(agent: Echo())
        _ = try productionDeviceStore(currentUser: CurrentUser(id: "user"), agent: Echo())
    }
}

/// Every store that the guides name, and the one that the guide "Custom storage" writes.
enum Stores: CaseIterable, Sendable {
    case memory, file, device, userDefaults, guideUserDefaults

    /// Whether it forgets at its end.
    var isForgetful: Bool { self == .memory }

    func open(_ location: String) throws -> any ChatStorage {
        switch self {
        case .memory: InMemoryChatStorage()
        case .file: FileChatStorage(baseURL: folder(location))
        case .device: try DeviceChatStorage(userId: "user", baseURL: folder(location))
        case .userDefaults: AgentSquad.UserDefaultsChatStorage(suiteName: location)
        case .guideUserDefaults: GuideStore(suiteName: location)
        }
    }

    func remove(_ location: String) {
        UserDefaults.standard.removePersistentDomain(forName: location)
        try? FileManager.default.removeItem(at: folder(location))
    }

    private func folder(_ location: String) -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent(location)
    }
}

/// Says what it was told.
struct Echo: AgentProtocol {
    let name = "Echo"
    let description = "Repeats the input back."

    func process(
        _ input: AgentInput, history: [ConversationMessage], context: AgentContext
    ) -> AsyncThrowingStream<AgentEvent, any Error> {
        AsyncThrowingStream { continuation in
            let text = input.text
            continuation.yield(.textDelta(text))
            continuation.yield(.final(ConversationMessage(role: .assistant, text: text)))
            continuation.finish()
        }
    }
}

/// Counts what it has been given.
struct Counter: AgentProtocol {
    let name = "Counter"
    let description = "Counts."

    func process(
        _ input: AgentInput, history: [ConversationMessage], context: AgentContext
    ) -> AsyncThrowingStream<AgentEvent, any Error> {
        AsyncThrowingStream { continuation in
            continuation.yield(.textDelta("\(history.count) messages before this"))
            continuation.finish()
        }
    }
}

/// Whoever is named.
struct ByName: Classifier {
    func classify(
        _ input: String, history: [ConversationMessage], agents: [any AgentProtocol]
    ) async throws -> ClassifierResult {
        let match = agents.first { input.lowercased().contains($0.name.lowercased().prefix(5)) }
        return ClassifierResult(selectedAgent: match, confidence: match != nil ? 1 : 0)
    }
}
