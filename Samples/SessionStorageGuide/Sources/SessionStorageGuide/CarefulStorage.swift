// "Error Handling" and "Data Migration": the guide's two methods, in a class that is no actor and not Sendable.
// swift-format-ignore-file

import ClaudeCodeCore
import Foundation

public class CarefulStorage: SessionStorageProtocol {
  /// Version 1 kept first messages as text files here, version 2 keeps sessions with their messages as JSON.
  private let folder: URL

  public init(folder: URL) throws {
    self.folder = folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try migrateIfNeeded()
  }

  public func saveSession(id: String, firstMessage: String) async throws {
    do {
      // Your storage logic
      let session = try load(id)
      try store(StoredSession(
        id: id,
        createdAt: session?.createdAt ?? Date(),
        firstUserMessage: session?.firstUserMessage ?? firstMessage,
        lastAccessedAt: Date(),
        messages: session?.messages ?? []
      ))
    } catch {
      // Log error appropriately
      print("Failed to save session: \(error)")
      throw StorageError.saveFailed(error)
    }
  }

  private func migrateIfNeeded() throws {
    let currentVersion = UserDefaults.standard.integer(forKey: "StorageVersion")

    if currentVersion < 2 {
      try migrateTo_v2()
      UserDefaults.standard.set(2, forKey: "StorageVersion")
    }
  }

  private func migrateTo_v2() throws {
    for file in try files() where file.pathExtension == "v1" {
      let id = file.deletingPathExtension().lastPathComponent
      let firstMessage = try String(contentsOf: file, encoding: .utf8)
      try store(StoredSession(
        id: id, createdAt: Date(), firstUserMessage: firstMessage, lastAccessedAt: Date(), messages: []
      ))
      try FileManager.default.removeItem(at: file)
    }
  }

  private func files() throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
  }

  private func url(_ id: String) -> URL {
    folder.appendingPathComponent(id).appendingPathExtension("json")
  }

  private func load(_ id: String) throws -> StoredSession? {
    guard FileManager.default.fileExists(atPath: url(id).path) else { return nil }
    return try JSONDecoder().decode(StoredSession.self, from: Data(contentsOf: url(id)))
  }

  private func store(_ session: StoredSession) throws {
    try JSONEncoder().encode(session).write(to: url(session.id), options: .atomic)
  }

  public func getAllSessions() async throws -> [StoredSession] {
    do {
      return try files().filter { $0.pathExtension == "json" }
        .map { try JSONDecoder().decode(StoredSession.self, from: Data(contentsOf: $0)) }
        .sorted { $0.lastAccessedAt > $1.lastAccessedAt }
    } catch {
      throw StorageError.loadFailed(error)
    }
  }

  public func getSession(id: String) async throws -> StoredSession? {
    do {
      return try load(id)
    } catch {
      throw StorageError.loadFailed(error)
    }
  }

  public func updateLastAccessed(id: String) async throws {
    guard var session = try await getSession(id: id) else { return }
    session.lastAccessedAt = Date()
    try store(session)
  }

  public func deleteSession(id: String) async throws {
    guard FileManager.default.fileExists(atPath: url(id).path) else { return }
    do {
      try FileManager.default.removeItem(at: url(id))
    } catch {
      throw StorageError.deleteFailed(error)
    }
  }

  public func deleteAllSessions() async throws {
    for session in try await getAllSessions() {
      try await deleteSession(id: session.id)
    }
  }

  public func updateSessionMessages(id: String, messages: [ChatMessage]) async throws {
    guard var session = try await getSession(id: id) else { throw StorageError.sessionNotFound(id) }
    session.messages = messages
    session.lastAccessedAt = Date()
    try store(session)
  }

  public func updateSessionId(oldId: String, newId: String) async throws {
    guard let session = try await getSession(id: oldId) else { return }
    try store(StoredSession(
      id: newId,
      createdAt: session.createdAt,
      firstUserMessage: session.firstUserMessage,
      lastAccessedAt: session.lastAccessedAt,
      messages: session.messages
    ))
    try await deleteSession(id: oldId)
  }
}
