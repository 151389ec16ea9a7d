import Dispatch
import Files
import ManagedModel
import Synchronization

#if canImport(CommonCrypto)
  import CommonCrypto
#else
  import CCrypto
#endif

/// PBKDF2 (RFC 8018), which makes a key of a password and takes its time for it.
enum KeyDerivation {
  enum Hash: Sendable {
    case sha1
    case sha256
  }

  /// Bytes of the keys that are derived here.
  static let keyCount = 32

  /// Derives a key, however long that takes.
  ///
  /// - Returns: `nil` where the library refuses, as for no rounds.
  static func key(
    from password: Secret, _ hash: Hash, salt: [UInt8], rounds: Int, count: Int = keyCount
  ) -> Secret? {
    guard let rounds = Int32(exactly: rounds), rounds > 0, count > 0 else { return nil }
    var isDone = false
    let key = Secret(capacity: count) { memory in
      password.withBytes { password in
        #if canImport(CommonCrypto)
          let prf = hash == .sha1 ? kCCPRFHmacAlgSHA1 : kCCPRFHmacAlgSHA256
          isDone =
            CCKeyDerivationPBKDF(
              CCPBKDFAlgorithm(kCCPBKDF2),
              password.baseAddress?.assumingMemoryBound(to: CChar.self),
              password.count, salt, salt.count, CCPseudoRandomAlgorithm(prf), UInt32(rounds),
              memory.baseAddress?.assumingMemoryBound(to: UInt8.self), count) == kCCSuccess
        #else
          isDone =
            PKCS5_PBKDF2_HMAC(
              password.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(password.count),
              salt, Int32(salt.count), rounds, hash == .sha1 ? EVP_sha1() : EVP_sha256(),
              Int32(count), memory.baseAddress?.assumingMemoryBound(to: UInt8.self)) == 1
        #endif
      }
      return count
    }
    return isDone ? key : nil
  }

  /// Rounds that are timed first: what the others will take follows from them.
  static let sample = 100_000

  /// The key that a keybag's class keys are wrapped with.
  ///
  /// The library's derivation can neither report how far it is nor be stopped. It runs in a thread of its
  /// own. A caller that stops waits no longer, and the key is overwritten when the thread is done.
  ///
  /// - Parameter progress: called with 0 to 1, by the time that has passed; it throws to stop.
  /// - Throws: what `progress` throws; `CancellationError` where the task is cancelled.
  static func key(
    from password: Secret, for keybag: Keybag, progress: (Double) throws -> Void
  ) throws -> Secret? {
    guard keybag.rounds > sample else { return derived(from: password, for: keybag) }
    let start = ContinuousClock.now
    _ = key(from: Secret([0]), .sha256, salt: [0], rounds: sample)
    let expected =
      (ContinuousClock.now - start) / .seconds(1) * Double(keybag.rounds)
      / Double(sample)
    let made = Made()
    Processors.begin { made.finish(derived(from: password, for: keybag)) }
    let begun = ContinuousClock.now
    while !made.isDone(within: .milliseconds(50)) {
      try Task.checkCancellation()
      let time = (ContinuousClock.now - begun) / .seconds(1)
      // A machine that became slower is not done yet.
      try progress(min(0.99, time / max(expected, 0.001)))
    }
    try progress(1)
    return made.take()
  }

  private static func derived(from password: Secret, for keybag: Keybag) -> Secret? {
    var secret = password
    if let first = keybag.first {
      guard let key = key(from: password, .sha256, salt: first.salt, rounds: first.rounds)
      else { return nil }
      secret = key
    }
    return key(from: secret, .sha1, salt: keybag.second.salt, rounds: keybag.second.rounds)
  }

  /// What a thread of its own makes.
  private final class Made: Sendable {
    private let key = Mutex<Secret?>(nil)
    private let done = DispatchGroup()

    init() { done.enter() }

    func finish(_ made: Secret?) {
      key.withLock { $0 = made }
      done.leave()
    }

    func isDone(within time: DispatchTimeInterval) -> Bool {
      done.wait(timeout: .now() + time) == .success
    }

    func take() -> Secret? {
      key.withLock { key in
        defer { key = nil }
        return key
      }
    }
  }
}
