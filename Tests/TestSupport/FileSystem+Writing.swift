import Files
import ManagedModel

/// What tests do to files, links followed: the program itself writes under new names only.
extension FileSystem {
  /// Writes a new file or replaces the content of one.
  package static func write(_ bytes: [UInt8], to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw failure(.write, path) }
    defer { close(descriptor) }
    guard write(bytes, to: descriptor) == 0 else { throw failure(.write, path) }
  }

  /// Copies a file to a new one, or into one that is there, which stays the same file.
  package static func copyOver(_ source: String, to destination: String) throws {
    if status(destination) == nil {
      try copy(source, to: destination)
    } else {
      try write(read(source), to: destination)
    }
  }
}
