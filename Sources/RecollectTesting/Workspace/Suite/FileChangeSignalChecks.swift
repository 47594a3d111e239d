import Foundation
import RecollectCore
import RecollectWorkspace

/// Checks of notifications about changes.
enum FileChangeSignalChecks {
    static let all: [WorkspaceProviderCheck] = [
        check("changeSignal.afterOwnWrites", "Every listener is notified after a write by the provider itself.") {
            fixture in
            try fixture.provider.write("two", to: "a.md", replacing: "one")
        },
        check("changeSignal.afterForeignWrites", "Every listener is notified after a write by another program.") {
            fixture in
            try fixture.put("a.md", Array("foreign".utf8))
        },
        check("changeSignal.afterWritesInNewFolders", "Every listener is notified after a write in a new folder.") {
            fixture in
            try fixture.put("Journal/user/a.md", Array("foreign".utf8))
        },
        check("changeSignal.afterRemovals", "Every listener is notified after a removal.") { fixture in
            try fixture.provider.remove("a.md", holding: "one")
        },
    ]

    /// Returns a check of two listeners with a file `a.md` of the text `one`.
    private static func check(
        _ name: String, _ promise: String, act: @escaping @Sendable (WorkspaceProviderFixture) throws -> Void
    ) -> WorkspaceProviderCheck {
        WorkspaceProviderCheck(name, promise) { fixture in
            try await offThePool { try fixture.provider.write("one", to: "a.md", replacing: nil) }
            let listeners = [fixture.provider.changeSignals(), fixture.provider.changeSignals()]
            try await offThePool { try act(fixture) }
            for changeSignals in listeners {
                try await within(fixture.maxWait, "a notification") { for await _ in changeSignals { return } }
            }
        }
    }

    /// Waits for `body` to return, at most for `maxWait`.
    private static func within(
        _ maxWait: Duration, _ what: String, _ body: @escaping @Sendable () async -> Void
    ) async throws {
        let isInTime = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await body()
                return !Task.isCancelled
            }
            group.addTask {
                try? await Task.sleep(for: maxWait)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        try expect(isInTime, "\(what) within \(maxWait)", actual: "no notification")
    }
}
