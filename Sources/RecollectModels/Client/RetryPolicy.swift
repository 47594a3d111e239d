import Foundation

/// The rules for sending a failed request again.
///
/// Only transient failures are retried: failed connections, failures reported by the server during the answer,
/// and the statuses 408, 429 and 5xx. After the first event of an answer there are no retries.
public struct RetryPolicy: Hashable, Sendable {
    /// The maximum number of retries; 0 for none.
    public var maxRetries: Int
    /// The delay before the first retry. It doubles with each further retry.
    public var firstDelay: Duration
    /// The maximum delay. If a server asks for more (`Retry-After`), the failure is thrown at once.
    public var maxDelay: Duration

    /// Creates a policy.
    public init(maxRetries: Int = 2, firstDelay: Duration = .milliseconds(500), maxDelay: Duration = .seconds(30)) {
        self.maxRetries = maxRetries
        self.firstDelay = firstDelay
        self.maxDelay = maxDelay
    }

    /// Returns the delay before retry number `retry`, counted from 0; `nil` for no retry.
    ///
    /// A delay requested by the server is used as it is. Otherwise the delay is between half the backoff and
    /// all of it, by `jitter` from 0 to 1, so that clients failing together do not retry together.
    func delay(before retry: Int, after error: ModelError, jitter: Double) -> Duration? {
        guard retry < maxRetries, error.isTransient else { return nil }
        if let asked = error.retryAfter { return asked <= maxDelay ? asked : nil }
        // Further doubling would only overflow.
        let backoff = min(maxDelay, firstDelay * (1 << min(retry, 20)))
        return backoff / 2 + backoff / 2 * jitter
    }
}

extension ModelError {
    /// Whether the same request may succeed later.
    fileprivate var isTransient: Bool {
        switch code {
        case .cannotConnect, .connectionLost, .rateLimited: true
        case .serverFailed: true
        default: status == 408
        }
    }
}

/// Parses the header `Retry-After`.
enum RetryAfter {
    /// Returns the requested delay: seconds, or the time until a date; `nil` for any other value.
    static func duration(_ value: String, now: Date) -> Duration? {
        let text = value.trimmingCharacters(in: .whitespaces)
        if let seconds = Double(text) {
            // Longer delays, about a century and more, would overflow.
            return seconds.isFinite && seconds >= 0 ? .seconds(min(seconds, 3_000_000_000)) : nil
        }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return formatter.date(from: text).map { .seconds(max(0, $0.timeIntervalSince(now))) }
    }
}
