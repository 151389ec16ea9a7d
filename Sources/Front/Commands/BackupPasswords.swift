import Containers
import Files
import ManagedModel

/// Where the passwords of encrypted backups come from in one run: a file, standard input or the terminal;
/// never an argument or the environment, which others can read.
package final class BackupPasswords {
  /// The keys that the interface has opened, for as long as it runs.
  package static let ringOfInterface = BackupKeyRing()
  /// How often the terminal is asked for one password.
  private static let attempts = 3

  private let file: String?
  private let console: Console
  private let ring: BackupKeyRing
  /// What was read: standard input can be read only once.
  private var given: Secret?

  /// - Parameter file: what `--password-file` named.
  package init(file: String?, on console: Console, ring: BackupKeyRing = BackupKeyRing()) {
    (self.file, self.console, self.ring) = (file, console, ring)
  }

  /// Whether the folder of a backup waits for its password in the interface.
  package static func isLocked(_ folder: String) -> Bool {
    ringOfInterface.isMissing(forBackup: folder)
  }

  /// How a container's backups are opened.
  ///
  /// - Parameter draft: what is shown meanwhile at the foot of the terminal.
  package func unlocking(pausing draft: Waiting.Draft? = nil) -> BackupUnlocking {
    var bar: ProgressBar?
    return BackupUnlocking(
      ring: ring, asks: file == nil,
      progress: { [console] fraction in
        let shown = bar ?? ProgressBar(console)
        bar = shown
        if fraction < 1 {
          shown.show(ProgressBar.Work(title: "deriving the key", fraction: fraction))
        } else {
          shown.clear()
          bar = nil
          draft?.pause(false)
        }
      },
      password: { [self] backup, attempt in
        draft?.pause(true)
        return try password(of: backup, attempt)
      })
  }

  private func password(of backup: BackupIdentity, _ attempt: Int) throws -> Secret? {
    if let file {
      guard attempt == 0 else { return nil }
      let read = try given ?? PasswordFile.secret(at: file)
      given = read
      return read
    }
    guard console.canAsk, attempt < Self.attempts else { return nil }
    if attempt > 0 { console.note("The password is wrong. Try again.") }
    let name = backup.text
    return try TerminalPassword.ask(
      "Password of the encrypted backup\(name.isEmpty ? "" : " " + name): ")
  }
}

/// A password in a file, or on standard input.
enum PasswordFile {
  /// Most bytes of a password.
  static let limit = 1024

  /// Reads one; a line end behind it does not belong to it.
  ///
  /// - Parameter path: `-` for standard input.
  /// - Throws: ``CoreDataError`` where it cannot be read, is empty or is too long.
  static func secret(at path: String) throws -> Secret {
    let isInput = path == "-"
    let descriptor = isInput ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileSystem.failure(.read, path) }
    defer { if !isInput { close(descriptor) } }
    // One byte more than a line end and the longest password: there is too much then.
    let secret = try Secret(capacity: limit + 3) { memory in
      var count = 0
      while count < memory.count {
        let got = read(descriptor, memory.baseAddress.map { $0 + count }, memory.count - count)
        if got < 0 && errno == EINTR { continue }
        guard got >= 0 else { throw FileSystem.failure(.read, isInput ? "standard input" : path) }
        guard got > 0 else { break }
        count += got
      }
      if count > 0, memory[count - 1] == UInt8(ascii: "\n") {
        count -= 1
        if count > 0, memory[count - 1] == UInt8(ascii: "\r") { count -= 1 }
      }
      return count
    }
    let name = isInput ? "standard input" : path
    guard secret.count <= limit else {
      throw CoreDataError(
        .usage, "the password is longer than 1,024 bytes", path: name,
        hint: "The file holds the password and nothing else.")
    }
    guard secret.count > 0 else {
      throw CoreDataError(
        .usage, "there is no password in it", path: name,
        hint: "The file holds the password and nothing else.")
    }
    return secret
  }
}
