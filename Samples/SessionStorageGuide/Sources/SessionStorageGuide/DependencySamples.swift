// "Quick Start", "StoredSession" and "ChatMessage": the guide's lines unchanged, each in a function.
// swift-format-ignore-file

import ClaudeCodeCore
import Foundation

/// Quick Start, 2.
public func dependenciesWithCustomStorage() throws -> DependencyContainer {
  // Initialize your custom storage
  let customStorage = try SQLiteSessionStorage(databasePath: "/path/to/database.sqlite")

  // Create dependency container with custom storage
  let dependencies = DependencyContainer(
    globalPreferences: GlobalPreferencesStorage(),
    customSessionStorage: customStorage
  )
  return dependencies
}

/// StoredSession.
public func sampleSession() -> StoredSession {
  let session = StoredSession(
    id: "unique-session-id",
    createdAt: Date(),
    firstUserMessage: "Hello, Claude!",
    lastAccessedAt: Date(),
    messages: [] // ChatMessage array
  )
  return session
}

/// ChatMessage.
public func sampleMessage() -> ChatMessage {
  let message = ChatMessage(
    role: .user,
    content: "Hello, world!",
    messageType: .text
  )
  return message
}
