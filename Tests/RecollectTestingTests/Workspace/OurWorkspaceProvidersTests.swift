import RecollectTesting
import RecollectWorkspace
import Testing

/// The workspace providers that Recollect brings. All of them keep every promise.
@Suite("Recollect's own workspace providers")
struct OurWorkspaceProvidersTests {
    @Test(
        "SimulatedProvider conforms, whichever service it imitates",
        arguments: WorkspaceProviderSuite.checks, CloudBehavior.all.map(\.name))
    func simulated(_ check: WorkspaceProviderCheck, _ name: String) async throws {
        let service = try #require(CloudBehavior.all.first { $0.name == name })
        try await check.run(on: .simulatedCloud(service.behaviour))
    }

    @Test("FolderProvider conforms", arguments: WorkspaceProviderSuite.checks)
    func folder(_ check: WorkspaceProviderCheck) async throws {
        try await check.run(on: .workspaceFolders { try FolderProvider(root: $0) })
    }
}
