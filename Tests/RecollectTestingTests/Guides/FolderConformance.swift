import Foundation
import RecollectCore
import RecollectTesting
import Testing

/// Stores in a folder. Every check gets a new folder and may open it more than once.
let folders = StoreFixture<any ChatStorage>(
    capabilities: .all,
    location: { FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString) },
    open: { FileChatStorage(baseURL: $0) },
    remove: { try? FileManager.default.removeItem(at: $0) })

@Test(arguments: ChatStorageConformance.checks)
func filesConform(_ check: ChatStorageCheck) async throws {
    try await check.run(on: folders)
}
