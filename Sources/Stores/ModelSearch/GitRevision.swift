import Files
import ManagedModel
import SwiftModels

/// A model as a commit of a git repository has it, read through `git` without touching anything.
package struct GitRevision {
  /// Why a name is no revision that has the path, as a clause.
  struct Unknown: Error, CustomStringConvertible {
    var description: String
    /// Whether the revision has the path, and the repository lacks its content: a partial clone, or a damaged
    /// one.
    var isIncomplete = false
  }

  private let revision: String
  private let path: String
  /// A folder that is there, and the path as seen from it.
  private let folder: String
  private let inside: String
  private let git: String

  /// Names a path as a commit, branch or tag has it.
  package init(_ revision: String, of path: String, git: String = "git") {
    self.revision = revision
    self.path = path
    self.git = git
    (folder, inside) = Self.place(of: path)
  }

  /// Commits that changed what is at a path, newest first, at most 500.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable where the path is in no repository.
  package static func commits(
    changing path: String, git: String = "git"
  ) throws -> [GitHistory.Commit] {
    let (folder, inside) = place(of: path)
    do {
      return try answer(
        git, folder,
        [
          "log", "-z", "--max-count=500", "--no-show-signature", "--no-color",
          "--format=%H%x02%cI%x02%s", "--", ":(literal)" + inside,
        ]
      ).split(separator: 0).compactMap { .init(String(decoding: $0, as: UTF8.self)) }
    } catch let reason as Unknown {
      throw CoreDataError(
        .unreadable, "there are no revisions of the model: \(reason.description)", path: path)
    }
  }

  /// Commits that changed a file of Swift source which has or had a class with `@Model`, newest
  /// first, at most 300.
  static func commits(changingClassesIn path: String, git: String) throws -> [GitHistory.Commit] {
    let (folder, inside) = place(of: path)
    let scope = inside == "." ? "" : inside + "/"
    let names = try answer(
      git, folder,
      [
        "log", "--all", "-z", "--format=", "--name-only", "--no-renames", "--no-ext-diff",
        "--no-textconv", "--no-show-signature", "--no-color", "-S@Model", "--",
        SwiftSources.isFile(inside) ? ":(literal)" + inside : ":(glob)\(scope)**/*.swift",
      ]
    ).split(separator: 0).map { String(decoding: $0.drop { $0 == 10 }, as: UTF8.self) }
    let files = Set(names.filter { !$0.isEmpty }).sorted().prefix(1000)
    guard !files.isEmpty else { return [] }
    return try answer(
      git, folder,
      [
        "log", "--all", "-z", "--max-count=300", "--no-show-signature", "--no-color",
        "--format=%H%x02%cI%x02%s", "--",
      ] + files.map { ":(top,literal)" + $0 }
    ).split(separator: 0).compactMap { .init(String(decoding: $0, as: UTF8.self)) }
  }

  /// What git prints, all of it.
  private static func answer(_ git: String, _ folder: String, _ words: [String]) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try check(try GitHistory.run(git, folder, words) { bytes += $0 })
    return bytes
  }

  /// Reads the model: of a bundle a version by name, or the one that was current then.
  func load(version: String?) throws -> ModelReference.Loaded {
    let commit = try self.commit()
    var files = try read(blobs(of: commit))
    guard !files.isEmpty else {
      throw Unknown(description: "“\(revision)” has no model at this path")
    }
    let reference = path + (version.map { "@" + $0 } ?? "") + "@" + revision
    let name = FileSystem.stem(of: path)
    if let sources = sources(among: files) {
      return try located {
        try ModelReference.Loaded(
          SourceModels(sources, name: SwiftSources.name(of: path)), version: version, path: path,
          suffix: "@" + revision)
      }
    }
    if let bytes = files[""]
      ?? (path.hasSuffix(".xcdatamodel") ? files["contents"] ?? files[ModelBundle.elements] : nil)
    {
      let isArchive = bytes.starts(with: Array("bplist".utf8))
      return ModelReference.Loaded(
        model: try located { try isArchive ? Model(archive: bytes) : Model(contents: bytes) },
        name: "\(name)@\(revision)", path: reference,
        archive: isArchive && files[""] != nil ? bytes : nil)
    }
    files = files.filter { ModelBundle.isRelevant($0.key) }
    return try located {
      let bundle = try ModelBundle(name: name, files: files)
      guard let chosen = try version.map(bundle.version(named:)) ?? bundle.currentVersion else {
        throw CoreDataError(
          .usage, "the bundle did not say then which of its versions was current",
          hint: "Name one: \(path)@VERSION@\(revision)")
      }
      let file = files[chosen.path]
      return ModelReference.Loaded(
        model: try chosen.model, name: "\(chosen.name)@\(revision)", path: reference,
        archive: chosen.path.hasSuffix(".mom") ? file : nil)
    }
  }

  /// What the Swift source declared then; `nil` where there was none.
  func sourceModels() throws -> SourceModels? {
    let commit = try commit()
    let files = try read(blobs(of: commit))
    return sources(among: files).map { SourceModels($0, name: SwiftSources.name(of: path)) }
  }

  /// What was at the path then: the files of models, by their paths within it (the empty one is that
  /// of a single file), and what the Swift source declared.
  ///
  /// - Throws: ``CoreDataError``: usage for a revision that is none, unreadable where git cannot say.
  package func contents() throws -> (models: [String: [UInt8]], source: SourceModels?) {
    try told {
      let commit = try commit()
      let files = try read(blobs(of: commit))
      let source = sources(among: files).map {
        SourceModels($0, name: SwiftSources.name(of: path))
      }
      return (source == nil ? files.filter { !SwiftSources.isFile($0.key) } : [:], source)
    }
  }

  /// What the Swift source below the path declared then, whatever models were beside it.
  package func source() throws -> SourceModels? {
    try told {
      let commit = try commit()
      let wanted = try blobs(of: commit).filter {
        SwiftSources.isRead($0.key) || $0.key.isEmpty && SwiftSources.isFile(inside)
      }
      let files = try read(wanted).sorted { $0.key < $1.key }.map { name, bytes in
        SourceModels.File(path: name.isEmpty ? path : path + "/" + name, bytes: bytes)
      }
      return files.isEmpty ? nil : SourceModels(files, name: SwiftSources.name(of: path))
    }
  }

  /// Folders and files of models that were below the path then, by their paths within it; a version
  /// within a bundle is none of its own.
  package func modelPaths() throws -> [String] {
    try told {
      let names = try blobs(of: try commit()).keys
      let folders = names.compactMap { name -> String? in
        let parts = name.split(separator: "/").map(String.init)
        guard let last = parts.firstIndex(where: ModelBundle.isModel) else { return nil }
        return parts[...last].joined(separator: "/")
      }
      return Set(folders).sorted()
    }
  }

  /// The commit that HEAD and the main branch have in common, as far as there is one: that of
  /// `origin/main`, else of `main`; `master` stands for either where there is no `main`.
  ///
  /// - Returns: the commit, and whether it is HEAD itself; `nil` where the path is in no repository, or
  ///   none of these branches is there.
  package static func mergeBase(
    around path: String, git: String = "git"
  ) -> (commit: String, branch: String, isHead: Bool)? {
    let (folder, _) = place(of: path)
    let head = (try? answer(git, folder, ["rev-parse", "HEAD"])).map {
      GitHistory.line(String(decoding: $0, as: UTF8.self))
    }
    for branch in ["origin/main", "main", "origin/master", "master"] {
      guard let bytes = try? answer(git, folder, ["merge-base", "HEAD", branch]) else { continue }
      let commit = GitHistory.line(String(decoding: bytes, as: UTF8.self))
      if !commit.isEmpty { return (commit, branch, commit == head) }
    }
    return nil
  }

  /// The newest tag that is an ancestor of a commit and not the commit itself.
  package static func newestTag(
    before commit: String, around path: String, git: String = "git"
  ) -> (name: String, commit: String)? {
    let (folder, _) = place(of: path)
    let bytes = try? answer(
      git, folder,
      [
        "for-each-ref", "--merged=\(commit)", "--sort=-version:refname", "--sort=-creatordate",
        "--format=%(objectname) %(*objectname) %(refname:strip=2)", "refs/tags",
      ])
    for line in (bytes ?? []).split(separator: 10) {
      let fields = String(decoding: line, as: UTF8.self).split(
        separator: " ", omittingEmptySubsequences: false
      ).map(String.init)
      guard fields.count == 3 else { continue }
      // An annotated tag names the commit behind it.
      let tagged = fields[1].isEmpty ? fields[0] : fields[1]
      if tagged != commit { return (fields[2], tagged) }
    }
    return nil
  }

  /// The top folder of the repository that a path is in; `nil` where it is in none.
  package static func repository(around path: String, git: String = "git") -> String? {
    let (folder, _) = place(of: path)
    let bytes = try? answer(git, folder, ["rev-parse", "--show-toplevel"])
    let top = bytes.map { GitHistory.line(String(decoding: $0, as: UTF8.self)) } ?? ""
    return top.isEmpty ? nil : top
  }

  /// That the repository lacks the content of a file.
  func incomplete(_ reason: Unknown) -> CoreDataError {
    CoreDataError(
      .unreadable, "the model cannot be read: \(reason.description)", path: path + "@" + revision,
      hint:
        "A partial clone lacks files: run git fetch --refetch --no-filter in it, or clone without --filter. In any other, git fsck lists what is damaged."
    )
  }

  private func told<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch let reason as Unknown {
      if reason.isIncomplete { throw incomplete(reason) }
      throw CoreDataError(
        .usage, "the base cannot be read: \(reason.description)", path: path + "@" + revision,
        hint: "Name a commit, branch or tag; a shallow clone may lack it (fetch-depth: 0).")
    }
  }

  /// The files of Swift source, where no model is at the path itself.
  private func sources(among files: [String: [UInt8]]) -> [SourceModels.File]? {
    guard !files.keys.contains(where: ModelBundle.isRelevant), files["contents"] == nil,
      files[""] == nil || SwiftSources.isFile(inside)
    else { return nil }
    return files.sorted { $0.key < $1.key }.map { name, bytes in
      .init(path: name.isEmpty ? path : path + "/" + name, bytes: bytes)
    }
  }

  private func located<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch let error as CoreDataError {
      throw error.at(path: path + "@" + revision)
    }
  }

  private func commit() throws -> String {
    guard !revision.isEmpty, !revision.hasPrefix("-"), !revision.utf8.contains(0) else {
      throw Unknown(description: "“\(revision)” names no commit")
    }
    var bytes: [UInt8] = []
    let result = try GitHistory.run(
      git, folder, ["rev-parse", "-q", "--verify", "--end-of-options", revision + "^{commit}"]
    ) { bytes += $0 }
    if let result, result.status != 0, !result.message.contains("not a git repository") {
      throw Unknown(description: "“\(revision)” names no commit")
    }
    try Self.check(result)
    return GitHistory.line(String(decoding: bytes, as: UTF8.self))
  }

  /// The files at the path, by their names within it, with their blobs.
  private func blobs(of commit: String) throws -> [String: String] {
    let bytes = try Self.answer(git, folder, ["ls-tree", "-r", "-z", commit, "--", inside])
    var blobs: [String: String] = [:]
    for line in bytes.split(separator: 0) {
      let parts = String(decoding: line, as: UTF8.self).split(separator: "\t", maxSplits: 1)
      let fields = parts.first?.split(separator: " ") ?? []
      guard parts.count == 2, fields.count == 3, fields[1] == "blob", blobs.count < 20_000 else {
        continue
      }
      let name = String(parts[1])
      if inside == "." {
        blobs[name] = String(fields[2])
      } else if name == inside {
        blobs[""] = String(fields[2])
      } else if name.hasPrefix(inside + "/") {
        blobs[String(name.dropFirst(inside.count + 1))] = String(fields[2])
      }
    }
    return blobs
  }

  private func read(_ blobs: [String: String]) throws -> [String: [UInt8]] {
    let wanted = blobs.filter {
      $0.key.isEmpty || ModelBundle.isRelevant($0.key) || $0.key == "contents"
        || $0.key == ModelBundle.elements || SwiftSources.isRead($0.key)
    }
    guard !wanted.isEmpty else { return [:] }
    let names = Dictionary(grouping: wanted.keys) { wanted[$0] ?? "" }
    var reader = BlobReader(limit: ModelReference.limit)
    var files: [String: [UInt8]] = [:]
    let input = Array(names.keys.sorted().joined(separator: "\n").utf8) + [10]
    let result = try GitHistory.run(git, folder, ["cat-file", "--batch"], input: input) {
      reader.read($0) { id, bytes in
        for name in names[id] ?? [] { files[name] = bytes }
      }
    }
    try Self.check(result)
    let absent = wanted.keys.filter { files[$0] == nil }.sorted()
    guard let first = absent.first else { return files }
    let isMissing = reader.missing.contains(wanted[first] ?? "")
    let name = first.isEmpty ? FileSystem.name(of: path) : first
    throw Unknown(
      description: isMissing
        ? "the repository lacks the content of \(name) at “\(revision)” (object \((wanted[first] ?? "").prefix(12)))"
          + (absent.count > 1 ? ", and of \(absent.count - 1) more" : "")
        : "\(name) at “\(revision)” is not a file of at most \(ModelReference.limit >> 20) MB",
      isIncomplete: true)
  }

  private static func place(of path: String) -> (folder: String, inside: String) {
    // The folder of a repository itself, as a package's mostly is.
    if FileSystem.status(path + "/.git") != nil { return (path, ".") }
    var folder = FileSystem.parent(of: path) ?? "."
    var inside = FileSystem.name(of: path)
    while !FileSystem.isDirectory(folder), let parent = FileSystem.parent(of: folder) {
      inside = FileSystem.name(of: folder) + "/" + inside
      folder = parent
    }
    return (folder, inside)
  }

  private static func check(_ result: Subprocess.Result?) throws {
    guard let result else { throw Unknown(description: "git is not installed") }
    guard result.status == 0 else {
      throw Unknown(
        description: result.message.contains("not a git repository")
          ? "the path is not in a git repository" : GitHistory.line(result.message))
    }
  }
}
