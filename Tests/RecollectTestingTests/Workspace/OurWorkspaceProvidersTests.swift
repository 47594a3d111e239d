import RecollectTesting
import RecollectWorkspace
import Testing

/// The workspace providers of Recollect.
@Suite("Conformance of Recollect's workspace providers")
struct OurWorkspaceProvidersTests {
    @Test(
        "SimulatedProvider conforms for every service",
        arguments: WorkspaceProviderSuite.checks, CloudBehavior.all.map(\.name))
    func simulated(_ check: WorkspaceProviderCheck, _ name: String) async throws {
        let service = try #require(CloudBehavior.all.first { $0.name == name })
        try await check.run(on: .simulatedCloud(service.behavior))
    }

    @Test("FolderProvider conforms", arguments: WorkspaceProviderSuite.checks)
    func folder(_ check: WorkspaceProviderCheck) async throws {
        try await check.run(on: .workspaceFolders { try FolderProvider(root: $0) })
    }
}
