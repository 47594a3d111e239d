/// The behavior of a read if the content of the file is not local.
public enum DownloadPolicy: Sendable {
    /// Requests the download and waits for it. After this duration, the read throws `timedOut`.
    case wait(Duration)
    /// Requests the download and throws `FileNotYetAvailableError` at once.
    case request
}
