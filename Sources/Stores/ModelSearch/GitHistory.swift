import Files
import ManagedModel

/// Every version of every model file that a git repository's commits hold, read through `git`.
///
/// Nothing in the repository is changed, and nothing that its configuration names is run: no hook,
/// pager, external diff, text conversion, signature program or file monitor.
public struct GitHistory {
  /// A commit, as far as a person needs to know it.
  public struct Commit: Sendable, Equatable {
    /// The commit's hash, in hexadecimal.
    public var id: String
    /// Committer date, ISO 8601.
    public var date: String
    /// The first line of the commit's message.
    public var subject: String
  }

  /// One content of a model file, with the commits that brought and replaced it, newest first.
  struct Blob {
    var id: String
    var path: String
    var broughtBy: [Int]
    var replacedBy: [Int]
  }

  enum Failure: Error, Equatable {
    /// There is no git program.
    case missing
    /// The folder is in no repository.
    case noRepository
    /// git said why.
    case refused(String)
  }

  let folder: String
  let git: String
  /// The repository itself (`.git`), which distinguishes two folders of one from two repositories.
  let repository: String
  private(set) var blobs: [Blob] = []
  private var commits: [Commit] = []
  private var parents: [[String]] = []

  /// Most bytes of one model file that are read.
  private static let limit = 64 << 20

  init(around folder: String, git: String) throws {
    self.folder = folder
    self.git = git
    var answer: [UInt8] = []
    let result = try Self.run(git, folder, ["rev-parse", "--absolute-git-dir"]) { answer += $0 }
    guard let result else { throw Failure.missing }
    guard result.status == 0 else {
      throw result.message.contains("not a git repository")
        ? Failure.noRepository : Failure.refused(Self.line(result.message))
    }
    repository = Self.line(String(decoding: answer, as: UTF8.self))
  }

  /// Lists the blobs of all commits of all refs.
  mutating func list() throws {
    var reader = LogReader()
    let result = try Self.run(
      git, folder,
      [
        "log", "--all", "--full-history", "--raw", "--no-abbrev", "--no-renames", "-m", "--root",
        "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-color", "-z",
        "--format=%x01%H%x02%P%x02%cI%x02%s", "--", ":(top)*.xcdatamodel/contents",
        ":(top)*.xcdatamodel/\(ModelBundle.elements)", ":(top)*.mom",
      ]
    ) { reader.read($0) }
    guard let result else { throw Failure.missing }
    reader.finish()
    // A repository without a commit has no history to fail over.
    guard result.status == 0 || reader.commits.isEmpty && result.message.contains("does not have")
    else { throw Failure.refused(Self.line(result.message)) }
    commits = reader.commits
    parents = reader.parents
    blobs = reader.blobs.values.sorted { ($0.path, $0.id) < ($1.path, $1.id) }
  }

  /// Streams the content of the blobs; those that are gone (a partial clone) are passed over.
  func read(_ body: (Blob, [UInt8]) throws -> Void) throws {
    guard !blobs.isEmpty else { return }
    let byID = Dictionary(blobs.map { ($0.id, $0) }) { first, _ in first }
    var reader = BlobReader(limit: Self.limit)
    let input = Array(byID.keys.sorted().joined(separator: "\n").utf8) + [10]
    let result = try Self.run(git, folder, ["cat-file", "--batch", "--buffer"], input: input) {
      try reader.read($0) { id, bytes in
        if let blob = byID[id] { try body(blob, bytes) }
      }
    }
    guard let result else { throw Failure.missing }
    guard result.status == 0 else { throw Failure.refused(Self.line(result.message)) }
  }

  /// The first commit that had the content, the last one, and whether HEAD has it still.
  func life(of blob: Blob) throws -> (first: Commit?, last: Commit?, isCurrent: Bool) {
    let first = blob.broughtBy.last.map { commits[$0] }
    if try answer(["rev-parse", "-q", "--verify", "HEAD:" + blob.path]) == blob.id {
      return (first, try commit("HEAD"), true)
    }
    // The commit before the one that replaced it was the last to have it.
    // A merge replaces it for one of its parents only.
    for end in blob.replacedBy.prefix(4) {
      for parent in parents[end].prefix(4)
      where try answer(["rev-parse", "-q", "--verify", parent + ":" + blob.path]) == blob.id {
        return (first, try commit(parent), false)
      }
    }
    return (first, blob.broughtBy.first.map { commits[$0] }, false)
  }

  private func commit(_ name: String) throws -> Commit? {
    let text = try answer([
      "log", "-1", "--no-show-signature", "--no-color", "--format=%H%x02%cI%x02%s", name, "--",
    ])
    return Commit(text)
  }

  private func answer(_ words: [String]) throws -> String {
    var bytes: [UInt8] = []
    _ = try Self.run(git, folder, words) { bytes += $0 }
    return Self.line(String(decoding: bytes, as: UTF8.self))
  }

  static func run(
    _ git: String, _ folder: String, _ words: [String], input: [UInt8] = [],
    output: (ArraySlice<UInt8>) throws -> Void
  ) throws -> Subprocess.Result? {
    // GIT_DIR and its like would point to another repository than the folder's.
    let kept = [
      "GIT_CONFIG_GLOBAL=", "GIT_CONFIG_SYSTEM=", "GIT_CONFIG_NOSYSTEM=", "GIT_EXEC_PATH=",
    ]
    let environment = Subprocess.environment().filter { entry in
      !entry.hasPrefix("GIT_") || kept.contains(where: entry.hasPrefix)
    }
    return try Subprocess.run(
      git,
      [
        "-C", folder, "--no-pager", "--no-replace-objects", "-c", "core.fsmonitor=false",
        "-c", "log.showSignature=false", "-c", "log.follow=false",
      ] + words,
      environment: environment + [
        "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C",
        // A partial clone would fetch what is missing, by any program its configuration names.
        "GIT_ALLOW_PROTOCOL=none",
      ], input: input, output: output)
  }

  static func line(_ text: String) -> String {
    text.split(separator: "\n").first.map(String.init) ?? ""
  }
}

extension GitHistory.Commit {
  /// What git prints for `%H%x02%cI%x02%s`.
  init?(_ text: String) {
    let parts = text.split(separator: "\u{2}", maxSplits: 2, omittingEmptySubsequences: false)
      .map(String.init)
    guard parts.count == 3 else { return nil }
    self.init(id: parts[0], date: parts[1], subject: parts[2])
  }
}

/// Reads `git log --raw -z`: entries end in NUL, a commit begins with 0x01.
private struct LogReader {
  var commits: [GitHistory.Commit] = []
  var parents: [[String]] = []
  var blobs: [String: GitHistory.Blob] = [:]
  private var rest: [UInt8] = []
  private var change: (old: String, new: String)?

  mutating func read(_ piece: ArraySlice<UInt8>) {
    rest += piece
    var start = 0
    while let end = rest[start...].firstIndex(of: 0) {
      entry(rest[start..<end])
      start = end + 1
    }
    rest.removeFirst(start)
  }

  mutating func finish() {
    if !rest.isEmpty { entry(rest[...]) }
    rest = []
  }

  private mutating func entry(_ bytes: ArraySlice<UInt8>) {
    if let change {
      self.change = nil
      note(change, path: String(decoding: bytes, as: UTF8.self))
      return
    }
    let text = bytes.drop { $0 == 10 }
    switch text.first {
    case 1:
      let parts = String(decoding: text.dropFirst(), as: UTF8.self)
        .split(separator: "\u{2}", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 4 else { return }
      // With -m a merge comes once for each parent.
      if commits.last?.id != parts[0] {
        commits.append(.init(id: parts[0], date: parts[2], subject: parts[3]))
        parents.append(parts[1].split(separator: " ").map(String.init))
      }
    case UInt8(ascii: ":"):
      let fields = String(decoding: text, as: UTF8.self).split(separator: " ").map(String.init)
      if fields.count >= 5 { change = (fields[2], fields[3]) }
    default: break
    }
  }

  private mutating func note(_ change: (old: String, new: String), path: String) {
    let commit = commits.count - 1
    guard commit >= 0 else { return }
    // A link or a submodule has no content that is a model; cat-file will say.
    if !change.new.allSatisfy({ $0 == "0" }) {
      blobs[change.new, default: .init(id: change.new, path: path, broughtBy: [], replacedBy: [])]
        .broughtBy.append(commit)
    }
    if !change.old.allSatisfy({ $0 == "0" }) {
      blobs[change.old, default: .init(id: change.old, path: path, broughtBy: [], replacedBy: [])]
        .replacedBy.append(commit)
    }
  }
}

/// Reads `git cat-file --batch`: a line `id type size`, the content, a newline.
struct BlobReader {
  let limit: Int
  private var rest: [UInt8] = []
  private var current: (id: String, left: Int, isKept: Bool)?
  private var content: [UInt8] = []
  /// Objects that the repository lacks.
  private(set) var missing: Set<String> = []

  init(limit: Int) { self.limit = limit }

  mutating func read(
    _ piece: ArraySlice<UInt8>, _ body: (String, [UInt8]) throws -> Void
  ) rethrows {
    rest += piece
    var at = 0
    while true {
      if let (id, left, isKept) = current {
        let part = rest[at..<min(at + left, rest.count)]
        if isKept { content += part }
        at += part.count
        current = (id, left - part.count, isKept)
        guard left == part.count, at < rest.count else { break }
        at += 1
        current = nil
        if isKept { try body(id, content) }
        content = []
      } else {
        guard let end = rest[at...].firstIndex(of: 10) else { break }
        let fields = String(decoding: rest[at..<end], as: UTF8.self).split(separator: " ")
        at = end + 1
        if fields.count == 2, fields[1] == "missing" { missing.insert(String(fields[0])) }
        guard fields.count == 3, let size = Int(fields[2]), size >= 0 else { continue }
        current = (String(fields[0]), size, fields[1] == "blob" && size <= limit)
      }
    }
    rest.removeFirst(at)
  }
}
