import Files
import ManagedModel
import TestSupport

@testable import ManagedStore

/// A repository that a test makes, independent of the person's own configuration.
struct GitRepository {
  let path: String

  static let isAvailable = Tool.git.isAvailable

  init(at path: String) throws {
    self.path = path
    try FileSystem.makeDirectory(path)
    try run("init", "-q", "-b", "main")
  }

  @discardableResult
  func run(_ words: String..., input: [UInt8] = []) throws -> String {
    var out: [UInt8] = []
    let environment =
      Subprocess.environment().filter { !$0.hasPrefix("GIT_") } + [
        "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann",
        "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann",
        "GIT_COMMITTER_EMAIL=ann@example.com",
      ]
    let result = try Subprocess.run(
      "git", ["-C", path] + words, environment: environment, input: input
    ) { out += $0 }
    guard let result, result.status == 0 else {
      throw CoreDataError(.failed, "git \(words): \(result?.message ?? "missing")")
    }
    return String(decoding: out.prefix { $0 != 10 }, as: UTF8.self)
  }

  /// Writes a file and commits it.
  @discardableResult
  func commit(_ file: String, _ text: String, _ subject: String) throws -> String {
    let target = path + "/" + file
    try FileSystem.makeDirectory(FileSystem.parent(of: target) ?? path)
    try FileSystem.write(Array(text.utf8), to: target)
    try run("add", "-A")
    try run("commit", "-q", "-m", subject)
    return try run("rev-parse", "HEAD")
  }
}
