// "Migration from Default Storage": the guide's lines unchanged, in a function.
// swift-format-ignore-file

import ClaudeCodeCore

/// Moves all sessions from the default storage to one's own.
public func migrateFromDefaultStorage(globalPreferences: GlobalPreferencesStorage) async throws -> DependencyContainer {
  // 1. Get existing sessions from default storage
  let defaultContainer = DependencyContainer(globalPreferences: globalPreferences)
  let existingSessions = try await defaultContainer.sessionStorage.getAllSessions()

  // 2. Migrate to your custom storage
  let customStorage = MyCustomStorage()

  for session in existingSessions {
    try await customStorage.saveSession(
      id: session.id, 
      firstMessage: session.firstUserMessage
    )
    try await customStorage.updateSessionMessages(
      id: session.id, 
      messages: session.messages
    )
  }

  // 3. Use custom storage going forward
  let newContainer = DependencyContainer(
    globalPreferences: globalPreferences,
    customSessionStorage: customStorage
  )
  return newContainer
}
