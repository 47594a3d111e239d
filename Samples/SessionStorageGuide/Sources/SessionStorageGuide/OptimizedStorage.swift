// "Performance Optimization": the guide's lines first, unchanged; the rest is what it leaves to the reader, in a JSON file.
// swift-format-ignore-file

import ClaudeCodeCore
import Foundation

public actor OptimizedStorage: SessionStorageProtocol {
  private var cache: [String: StoredSession] = [:]
  private var isDirty = false

  public func getAllSessions() async throws -> [StoredSession] {
    if cache.isEmpty {
      // Load from persistent storage
      cache = try await loadFromDisk()
    }
    return Array(cache.values).sorted { $0.lastAccessedAt > $1.lastAccessedAt }
  }

  private let file: URL

  public init(file: URL) {
    self.file = file
  }

  private func loadFromDisk() async throws -> [String: StoredSession] {
    guard FileManager.default.fileExists(atPath: file.path) else { return [:] }
    return try JSONDecoder().decode([String: StoredSession].self, from: Data(contentsOf: file))
  }

  private func change(_ work: (inout [String: StoredSession]) -> Void) async throws {
    _ = try await getAllSessions()
    work(&cache)
    isDirty = true
  }

  /// Writes once what many calls changed.
  public func flush() throws {
    guard isDirty else { return }
    try JSONEncoder().encode(cache).write(to: file, options: .atomic)
    isDirty = false
  }

  public func saveSession(id: String, firstMessage: String) async throws {
    try await change { cache in
      let session = cache[id]
      cache[id] = StoredSession(
        id: id,
        createdAt: session?.createdAt ?? Date(),
        firstUserMessage: session?.firstUserMessage ?? firstMessage,
        lastAccessedAt: Date(),
        messages: session?.messages ?? []
      )
    }
  }

  public func getSession(id: String) async throws -> StoredSession? {
    try await getAllSessions().first { $0.id == id }
  }

  public func updateLastAccessed(id: String) async throws {
    try await change { $0[id]?.lastAccessedAt = Date() }
  }

  public func deleteSession(id: String) async throws {
    try await change { $0[id] = nil }
  }

  public func deleteAllSessions() async throws {
    try await change { $0 = [:] }
    try flush()
  }

  public func updateSessionMessages(id: String, messages: [ChatMessage]) async throws {
    try await change { cache in
      cache[id]?.messages = messages
      cache[id]?.lastAccessedAt = Date()
    }
  }

  public func updateSessionId(oldId: String, newId: String) async throws {
    try await change { cache in
      guard let session = cache.removeValue(forKey: oldId) else { return }
      cache[newId] = StoredSession(
        id: newId,
        createdAt: session.createdAt,
        firstUserMessage: session.firstUserMessage,
        lastAccessedAt: session.lastAccessedAt,
        messages: session.messages
      )
    }
  }
}
