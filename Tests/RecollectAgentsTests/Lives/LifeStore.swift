import Foundation
import Logging
import RecollectCore
import RecollectSQLite

/// The store of a random sequence of turns. It can be reopened, as after a restart, and a store on disk can lose its
/// process.
final class LifeStore {
    enum Kind: String, CaseIterable, Sendable {
        case fourMethods, memory, defaults, file, window, everything
    }

    enum Wrapper: String, CaseIterable, Sendable {
        case transforming, summarizing, logging, caching
    }

    private let kind: Kind
    private let wrappers: [Wrapper]
    private let root = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")
    private let saved: any ChatStorage
    private var copies = 0
    /// The store that orchestrators receive.
    private(set) var storage: any ChatStorage
    /// The SQLite store below, if there is one.
    private(set) var history: SQLiteHistoryStore?

    init(_ kind: Kind, wrappers: [Wrapper]) throws {
        self.kind = kind
        self.wrappers = wrappers
        saved = kind == .fourMethods ? FourMethods() : InMemoryChatStorage()
        storage = saved
        try open()
    }

    deinit {
        try? FileManager.default.removeItem(at: root)
        if kind == .defaults { UserDefaults.standard.removePersistentDomain(forName: root.lastPathComponent) }
    }

    private var folder: URL { root.appendingPathComponent("\(copies)") }

    /// Opens the store, or reopens it.
    func open() throws {
        let below: any ChatStorage
        switch kind {
        case .fourMethods, .memory: below = saved
        case .defaults: below = UserDefaultsChatStorage(suiteName: root.lastPathComponent)
        case .file: below = FileChatStorage(baseURL: folder, durability: .relaxed)
        case .window, .everything:
            let configuration = HistoryConfiguration(
                durability: .relaxed, retention: kind == .window ? .window : .everything)
            let history = SQLiteHistoryStore(directory: folder, configuration: configuration)
            self.history = history
            below = DeviceChatStorage(history: history, userId: "user")
        }
        storage = wrappers.reduce(below) { $1.wrap($0) }
    }

    /// Whether a killed process leaves anything behind.
    var isOnDisk: Bool { [.file, .window, .everything].contains(kind) }

    /// Continues with the current files on disk, as if the process had been killed.
    func kill() throws {
        let before = folder
        copies += 1
        try FileManager.default.copyItem(at: before, to: folder)
        try open()
    }
}

extension LifeStore.Wrapper {
    /// Wraps a store without changing its results.
    fileprivate func wrap(_ storage: any ChatStorage) -> any ChatStorage {
        switch self {
        case .transforming: TransformingChatStorage(wrapping: storage) { $0 }
        case .summarizing: SummarizingChatStorage(wrapping: storage, triggerAt: .max) { _, _ in "" }
        case .logging:
            LoggingChatStorage(wrapping: storage, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        case .caching: CachingChatStorage(wrapping: storage)
        }
    }
}
