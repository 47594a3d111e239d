import RecollectTesting
import Testing

@Test(arguments: SessionStorageConformance.checks)
func notebookSessionsConform(_ check: SessionStorageCheck) async throws {
    try await check.run { NotebookSessionStorage() }
}
