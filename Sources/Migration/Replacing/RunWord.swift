import Files
import ManagedModel
import ManagedStore

/// A random word of one run, which is kept in the state folder of the user who runs it and nowhere else.
///
/// A journal lies beside the store: it can come with a store from anywhere, and whoever may write to the
/// folder may write one. What a journal holds is sealed with this word, so that a journal of another hand is
/// told from one that this user's strata wrote.
struct RunWord: Equatable {
  private let bytes: [UInt8]

  /// The sealed value of what a journal holds so far.
  func seal(_ content: [UInt8]) -> String {
    // Twice, so that nobody who reads a seal can go on from it.
    ByteText.hex(Digest.sha256(bytes + Digest.sha256(bytes + content)))
  }

  /// A new word, kept for the journal at a path; `nil` where there is no state folder to keep it in.
  init?(keptFor journalPath: String) {
    bytes = Array(ByteText.hex((0..<32).map { _ in UInt8.random(in: 0...255) }).utf8)
    guard let (folder, name) = Self.place(for: journalPath, makes: true) else { return nil }
    do {
      try FileSystem.replace(folder.path(of: name), with: bytes)
    } catch {
      return nil
    }
  }

  /// The word that was kept for the journal at a path; `nil` where there is none, or it is not this user's.
  init?(knownFor journalPath: String) {
    guard let (folder, name) = Self.place(for: journalPath, makes: false),
      let file = try? folder.file(name), file.isPrivate,
      let bytes = try? file.read(at: 0, count: 256), bytes.count == 64
    else { return nil }
    self.bytes = bytes
  }

  /// Removes the word of a journal that is gone.
  static func forget(_ journalPath: String) {
    guard let (folder, name) = place(for: journalPath, makes: false) else { return }
    try? folder.remove(name)
  }

  private static func place(for path: String, makes: Bool) -> (folder: Folder, name: String)? {
    guard let state = StateFolder.path() else { return nil }
    let runs = state + "/runs"
    if makes {
      guard (try? FileSystem.makeDirectory(runs, permissions: 0o700)) != nil else { return nil }
    }
    guard let folder = try? Folder(runs) else { return nil }
    return (folder, ByteText.hex(Digest.sha256(Array(path.utf8)).prefix(16)))
  }
}
