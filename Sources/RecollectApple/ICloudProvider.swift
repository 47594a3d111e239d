#if os(iOS) || os(macOS) || os(visionOS)
    import Foundation
    import RecollectCore
    import RecollectWorkspace

    /// A workspace in iCloud Documents.
    ///
    /// It extends `FolderProvider` for iCloud. Reads and writes are coordinated, each with a time limit. A file
    /// that is not local is neither opened nor replaced. Losing versions of conflicts are returned, and resolved
    /// only after their content was read.
    public final class ICloudProvider: WorkspaceProvider {
        /// The container's `Documents` folder.
        public var rootURL: URL { folder.rootURL }

        private let folder: FolderProvider
        private let coordination: Coordination

        /// Opens the `Documents` folder of a container, and creates it if necessary.
        ///
        /// - Parameters:
        ///   - documents: The folder.
        ///   - timeout: The maximum wait for other processes, before `timedOut` is thrown.
        public init(documents: URL, timeout: Duration = .seconds(10)) throws {
            folder = try FolderProvider(root: documents)
            coordination = Coordination(limit: timeout)
        }

        /// Returns the items of a folder, with their states in iCloud.
        public func items(in path: WorkspacePath) throws -> [WorkspaceItem] {
            try folder.items(in: path).map(reported)
        }

        /// Returns the names omitted from a folder's list.
        public func unlistedNames(in path: WorkspacePath) throws -> [String] { try folder.unlistedNames(in: path) }

        /// Returns one file or folder, with its state in iCloud.
        public func item(at path: WorkspacePath) throws -> WorkspaceItem? {
            try folder.item(at: path).map(reported)
        }

        /// Returns the path of a file or folder as spelled on disk. Containers on most systems are case-insensitive.
        public func canonicalPath(of path: WorkspacePath) throws -> WorkspacePath { try folder.canonicalPath(of: path) }

        /// Returns the bytes of a file, in a coordinated read. Never starts a download.
        ///
        /// - Throws: the errors of every provider; `timedOut` if other processes hold the file beyond the time limit.
        public func read(_ path: WorkspacePath, limit: Int) throws -> [UInt8] {
            // A coordinated read of a file that is not local would wait for its download.
            try requireContent(of: path)
            let folder = folder
            return try coordination.reading(url(of: path)) { try folder.read(path, limit: limit) }
        }

        /// Writes a file, in a coordinated write.
        ///
        /// - Throws: the errors of every provider; `timedOut`, with the file unchanged.
        public func write(_ bytes: [UInt8], to path: WorkspacePath, replacing expected: ContentHash?) throws {
            try requireContent(of: path)
            let folder = folder
            try coordination.writing(url(of: path), .forReplacing) {
                try folder.write(bytes, to: path, replacing: expected)
            }
        }

        /// Removes a file, in a coordinated write.
        ///
        /// - Throws: the errors of every provider; `timedOut`, with the file unchanged.
        public func remove(_ path: WorkspacePath, holding expected: ContentHash) throws {
            try requireContent(of: path)
            let folder = folder
            try coordination.writing(url(of: path), .forDeleting) { try folder.remove(path, holding: expected) }
        }

        /// Copies a file's metadata to a file on this device.
        public func saveMetadata(of path: WorkspacePath, to url: URL) throws {
            try requireContent(of: path)
            try folder.saveMetadata(of: path, to: url)
        }

        /// Applies the metadata copied by `saveMetadata` to a file.
        public func applyMetadata(
            from url: URL, to path: WorkspacePath, holding expected: ContentHash, setsModificationDate: Bool
        ) throws {
            try requireContent(of: path)
            try folder.applyMetadata(from: url, to: path, holding: expected, setsModificationDate: setsModificationDate)
        }

        /// Cleans up files left in a folder by killed writers. Not coordinated: no other program uses these files.
        public func resolveLeftovers(
            in path: WorkspacePath, includingRecent: Bool, isArchived: (ContentHash) throws -> Bool
        ) throws -> LeftoverReport {
            try folder.resolveLeftovers(in: path, includingRecent: includingRecent, isArchived: isArchived)
        }

        /// Requests a download from iCloud. Returns at once.
        public func requestDownload(of path: WorkspacePath) throws {
            guard let item = try item(at: path), item.state == .notLocal else { return }
            try FileManager.default.startDownloadingUbiquitousItem(at: url(of: path))
        }

        /// Returns the local files of the lineage folder.
        public func lineageFiles() throws -> [LineageFile] { try folder.lineageFiles() }

        /// Returns a file of the lineage folder; `nil` if it is not local.
        public func lineageFile(named name: String) throws -> LineageFile? { try folder.lineageFile(named: name) }

        /// Replaces or removes a file of the lineage folder. Not coordinated: no other process writes it.
        public func writeLineageFile(named name: String, _ bytes: [UInt8]?) throws {
            try folder.writeLineageFile(named: name, bytes)
        }

        /// Returns a stream with an element for each change of documents reported by iCloud. Needs a main run loop.
        public func changeSignals() -> AsyncStream<Void> {
            AsyncStream(bufferingPolicy: .bufferingNewest(1)) { stream in
                let watch = MetadataWatch { stream.yield() }
                stream.onTermination = { _ in watch.end() }
            }
        }

        // MARK: Versions

        /// Returns the losing versions of conflicts with local content.
        public func conflictVersions(of path: WorkspacePath) throws -> [ConflictVersion] {
            let url = url(of: path)
            let readable = try unresolvedVersions(of: url)
            let versions = readable.map { ConflictVersion(id: $0.id, bytes: $0.bytes) }
            return try folder.conflictVersions(of: path) + versions
        }

        /// Marks versions as resolved if they still have the content read. Others are returned again.
        public func resolve(_ versions: [ConflictVersion], of path: WorkspacePath) throws {
            try folder.resolve(versions.filter { !$0.id.hasPrefix(Self.idPrefix) }, of: path)
            let url = url(of: path)
            let wanted = Set(versions)
            guard wanted.contains(where: { $0.id.hasPrefix(Self.idPrefix) }) else { return }
            try coordination.writing(url, .contentIndependentMetadataOnly) {
                for (version, id, bytes) in try Self.versions(of: url)
                where wanted.contains(ConflictVersion(id: id, bytes: bytes)) {
                    version.isResolved = true
                }
            }
        }

        private func unresolvedVersions(of url: URL) throws -> [(id: String, bytes: [UInt8])] {
            guard NSFileVersion.unresolvedConflictVersionsOfItem(at: url)?.isEmpty == false else { return [] }
            return try coordination.reading(url) { try Self.versions(of: url).map { ($0.id, $0.bytes) } }
        }

        /// Returns the losing versions of a file with local content. Others are neither returned nor resolved.
        private static func versions(of url: URL) throws -> [(version: NSFileVersion, id: String, bytes: [UInt8])] {
            let versions = NSFileVersion.unresolvedConflictVersionsOfItem(at: url) ?? []
            return try versions.filter(\.hasLocalContents).map { version in
                let bytes = [UInt8](try Data(contentsOf: version.url))
                let date = version.modificationDate?.timeIntervalSince1970 ?? 0
                return (version, "\(idPrefix)\(date)-\(ContentHash(of: bytes).rawValue)", bytes)
            }
        }

        private static let idPrefix = "NSFileVersion-"

        // MARK: States

        private func url(of path: WorkspacePath) -> URL {
            path.names.reduce(rootURL) { $0.appendingPathComponent($1) }
        }

        private func requireContent(of path: WorkspacePath) throws {
            guard let item = try item(at: path), item.state == .notLocal || item.state == .downloading else { return }
            throw RecollectError(.notLocal, "\(path) is not on this device yet")
        }

        /// Returns an item with its state in iCloud.
        private func reported(_ item: WorkspaceItem) -> WorkspaceItem {
            guard !item.isFolder, let values = try? url(of: item.path).resourceValues(forKeys: Self.keys) else {
                return item
            }
            let cloud = CloudItemState(
                status: values.ubiquitousItemDownloadingStatus?.rawValue,
                isDownloading: values.ubiquitousItemIsDownloading ?? false,
                hasUnresolvedVersions: values.ubiquitousItemHasUnresolvedConflicts ?? false,
                isUploaded: values.ubiquitousItemIsUploaded, uploadError: values.ubiquitousItemUploadingError)
            return WorkspaceItem(
                path: item.path, isFolder: false, size: item.size, modified: item.modified,
                changed: item.changed, state: cloud.state(of: item.state), stamp: item.stamp, upload: cloud.upload)
        }

        private static let keys: Set<URLResourceKey> = [
            .ubiquitousItemDownloadingStatusKey, .ubiquitousItemIsDownloadingKey,
            .ubiquitousItemHasUnresolvedConflictsKey, .ubiquitousItemIsUploadedKey, .ubiquitousItemUploadingErrorKey,
        ]
    }
#endif
