// What the guide's `RootView` does with the container: a model on the main actor, with whatever storage it was given.

import ClaudeCodeCore

/// The sessions as a sidebar shows them.
@MainActor
public final class Sidebar {
    private let dependencies: DependencyContainer
    /// What is shown, the last accessed first.
    public private(set) var titles: [String] = []

    /// A sidebar of what a container holds.
    public init(dependencies: DependencyContainer) {
        self.dependencies = dependencies
    }

    /// Begins a session and shows all.
    public func begin(id: String, firstMessage: String) async throws {
        try await dependencies.sessionStorage.saveSession(id: id, firstMessage: firstMessage)
        titles = try await dependencies.sessionStorage.getAllSessions().map(\.title)
    }
}
