#if os(iOS) || os(macOS) || os(visionOS)
    import Foundation
    import RecollectWorkspace

    /// The iCloud container of an app, with the workspace of the account signed in.
    ///
    /// The guide <doc:ICloud-Documents> lists the necessary entitlements.
    public struct ICloudContainer: CloudContainer {
        private let identifier: String?

        /// Creates a container.
        ///
        /// - Parameter identifier: `iCloud.com.example.app`; `nil` for the first container of the app's entitlements.
        public init(identifier: String? = nil) {
            self.identifier = identifier
        }

        /// Returns the system's token of the account, at once; `nil` without an account.
        public func accountToken() -> Data? {
            guard let token = FileManager.default.ubiquityIdentityToken else { return nil }
            return try? NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: false)
        }

        /// Returns the container's `Documents` folder. Blocks, so it must not be called on the main thread.
        public func containerURL() -> URL? {
            FileManager.default.url(forUbiquityContainerIdentifier: identifier)?
                .appendingPathComponent("Documents", isDirectory: true)
        }

        /// Opens the container's folder at a URL.
        public func provider(at url: URL) throws -> any WorkspaceProvider {
            try ICloudProvider(documents: url)
        }

        /// Returns a stream with an element for each `NSUbiquityIdentityDidChange` notification.
        public func accountChanges() -> AsyncStream<Void> {
            AsyncStream(bufferingPolicy: .bufferingNewest(1)) { stream in
                let observer = Observer(.NSUbiquityIdentityDidChange) { stream.yield() }
                stream.onTermination = { _ in observer.end() }
            }
        }
    }

    extension SharedWorkspace {
        /// Makes `SharedWorkspace()` use the workspace in iCloud Documents, in this process. Call it once, when
        /// the app starts.
        ///
        /// Never waits for iCloud. Without an account, or with iCloud unavailable, the workspace is an offline
        /// replica, merged later.
        public static func useICloud(containerIdentifier: String? = nil) {
            use(ICloudContainer(identifier: containerIdentifier))
        }

        /// Opens the workspace in iCloud Documents: in the remembered container of the account signed in, else in
        /// the offline replica.
        ///
        /// Never waits for iCloud. A container found by `lookUpContainer()` is used by the next instance, and
        /// `mergeReplica()` merges the replica into it. Neither is called automatically.
        ///
        /// - Throws: the errors of opening a workspace in a container.
        public static func iCloud(
            containerIdentifier: String? = nil, configuration: WorkspaceConfiguration = WorkspaceConfiguration()
        ) throws -> SharedWorkspace {
            try SharedWorkspace(
                container: ICloudContainer(identifier: containerIdentifier), configuration: configuration)
        }
    }
#endif
