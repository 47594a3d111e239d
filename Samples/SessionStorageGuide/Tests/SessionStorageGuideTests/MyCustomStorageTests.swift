// "Testing": the guide's test, unchanged.
// swift-format-ignore-file

import XCTest
@testable import ClaudeCodeCore

class MyCustomStorageTests: XCTestCase {
  func testCustomStorageIntegration() async throws {
    let mockStorage = MockSessionStorage()
    
    let container = DependencyContainer(
      globalPreferences: GlobalPreferencesStorage(),
      customSessionStorage: mockStorage
    )
    
    // Test your integration
    try await container.sessionStorage.saveSession(id: "test", firstMessage: "Hello")
    let sessions = try await container.sessionStorage.getAllSessions()
    
    XCTAssertEqual(sessions.count, 1)
  }
}
