import RecollectTesting
import Testing

@Test(arguments: ChatStorageConformance.checks)
func notebookConforms(_ check: ChatStorageCheck) async throws {
    try await check.run { NotebookChatStorage() }
}
