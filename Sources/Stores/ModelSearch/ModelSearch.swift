import Files
/// What is searched, and what is found, are part of what this library says: who imports it has them.
@_exported import ManagedStore
import ModelWriting
import SwiftModels

/// Looks for the model whose version hashes are a store's, in folders and in git history.
///
/// Folders are walked to any depth with bounds; links are followed, each folder once. What is read:
/// `.mom`, `.xcdatamodel`, the model caches of other stores, and Swift source: that of each package or
/// project together, or, in a folder without either, all of it.
public struct ModelSearch {
  /// The store's version hashes by entity, as far as they are known.
  public let hashes: [String: HashPattern]
  /// Models that fit exactly, in the order found.
  public private(set) var matches: [FoundModel] = []
  /// The one with the most equal hashes among those that do not fit, or where none has any, with the
  /// most entities of the same names; `nil` where none has one.
  public private(set) var nearest: FoundModel?
  /// Models of which every entity is the store's, but which lack some, for what the app may have merged.
  private var partial: [FoundModel] = []
  /// Version hashes digests of models that the store had before, in Base64: persistent history names them.
  public let formerDigests: Set<String>
  /// The first model found for each of these digests.
  public private(set) var former: [String: FoundModel] = [:]
  /// What could not be looked at, as sentences.
  public private(set) var notes: [String] = []
  /// Models read so far, those of stores and of git history included.
  public private(set) var modelsRead = 0
  /// Files and folders looked at so far, outside git history.
  public private(set) var filesSeen = 0
  /// Contents of model files that git history held.
  public private(set) var versionsRead = 0

  private let git: String
  private let store: FileSystem.Status?
  private var visited: Set<[UInt64]> = []
  private var repositories: Set<[UInt8]> = []
  private var isGitMissing = false
  /// Folders of packages and projects, and whether any Swift source was seen.
  private var projects: [String] = []
  private var isSourceSeen = false
  /// Whether models that fit are wanted still, and not only those of before.
  private var takesMatches = true

  /// Most files and folders that are looked at, and the deepest folder.
  static let fileLimit = 2_000_000
  static let depthLimit = 64

  /// - Parameters:
  ///   - former: version hashes digests of models that the store had before, to look for as well.
  ///   - store: the store whose model is wanted; it is not an answer itself.
  ///   - git: the program to ask for history.
  public init(
    hashes: [String: HashPattern], former: Set<String> = [], excluding store: String? = nil,
    git: String = "git"
  ) {
    self.hashes = hashes
    formerDigests = former
    self.store = store.flatMap(FileSystem.status)
    self.git = git
  }

  /// - Throws: ``CoreDataError`` where nothing is at the path.
  public mutating func look(in path: String) throws {
    let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    guard let status = FileSystem.status(path) else {
      throw CoreDataError(.unreadable, "there is nothing to look through", path: path)
    }
    let folder = status.kind == .directory ? path : FileSystem.parent(of: path) ?? "."
    history(around: folder, isAsked: true)
    (projects, isSourceSeen) = ([], false)
    walk(path, depth: 0)
    if isSourceSeen, projects.isEmpty { projects = [path] }
    for project in projects { sources(in: project) }
    let isFound = !matches.isEmpty
    guard !isFound || former.count < formerDigests.count else { return }
    takesMatches = !isFound
    defer { takesMatches = true }
    for project in projects { sourceHistory(of: project) }
  }

  /// Looks through what the source was after each commit that changed a class.
  private mutating func sourceHistory(of path: String) {
    guard !isGitMissing,
      let history = try? GitHistory(
        around: FileSystem.isDirectory(path) ? path : FileSystem.parent(of: path) ?? ".", git: git),
      let commits = try? GitRevision.commits(changingClassesIn: path, git: git)
    else { return }
    for commit in commits {
      guard let models = try? GitRevision(commit.id, of: path, git: git).sourceModels() else {
        continue
      }
      for version in models.versions {
        (modelsRead, versionsRead) = (modelsRead + 1, versionsRead + 1)
        guard let model = try? version.model else { continue }
        // Older commits that have it still make its life longer.
        if let known = matches.indices.last, matches[known].name == version.name,
          matches[known].model.versionHashes == model.versionHashes,
          case .git(var origin) = matches[known].origin
        {
          origin.first = commit
          matches[known].origin = .git(origin)
          continue
        }
        let origin = FoundModel.GitOrigin(
          repository: history.repository, path: version.place?.path ?? path, blob: commit.id,
          first: commit, last: commit, isCurrent: false)
        consider(version.name, .git(origin), model, contents: nil)
      }
    }
  }

  private mutating func sources(in path: String) {
    guard let models = try? SwiftSources.models(at: path) else { return }
    for version in models.versions {
      modelsRead += 1
      guard let model = try? version.model else { continue }
      let place = version.place == nil ? path : path + "@" + version.name
      consider(version.name, .file(path: place), model, contents: nil)
    }
    for remark in models.remarks.prefix(5) { note(remark.description) }
  }

  private static func isProject(_ name: String) -> Bool {
    name == "Package.swift" || name.hasSuffix(".xcodeproj") || name.hasSuffix(".xcworkspace")
  }

  private mutating func walk(_ path: String, depth: Int) {
    guard filesSeen < Self.fileLimit else {
      note("More than \(Self.fileLimit) files: the rest was not searched.")
      return
    }
    filesSeen += 1
    guard let status = FileSystem.status(path) else { return }
    switch status.kind {
    case .directory:
      guard visited.insert([status.device, status.inode]).inserted else { return }
      guard depth < Self.depthLimit else {
        note("Folders below \(path) are too deep and were not searched.")
        return
      }
      guard let names = try? FileSystem.list(path) else {
        note("The folder \(path) cannot be read.")
        return
      }
      if names.contains(where: Self.isProject),
        !projects.contains(where: { path.hasPrefix($0 + "/") })
      {
        projects.append(path)
      }
      for name in names {
        if name == ".git" {
          history(around: path, isAsked: false)
        } else {
          walk(path + "/" + name, depth: depth + 1)
        }
      }
    case .file: file(path, status)
    case .other: break
    }
  }

  private mutating func file(_ path: String, _ status: FileSystem.Status) {
    let name = FileSystem.name(of: path)
    let folder = FileSystem.parent(of: path) ?? "."
    if SwiftSources.isFile(name) {
      isSourceSeen = true
      return
    }
    if name == "contents", folder.hasSuffix(".xcdatamodel") {
      guard let bytes = try? FileSystem.read(path, limit: ModelReference.limit) else { return }
      consider(FileSystem.stem(of: folder), .file(path: folder), bytes, isXML: true)
    } else if name == ModelBundle.elements, folder.hasSuffix(".xcdatamodel"),
      ModelBundle.sourceFile(in: folder) == ModelBundle.elements
    {
      guard let bytes = try? FileSystem.read(path, limit: ModelReference.limit) else { return }
      consider(FileSystem.stem(of: folder), .file(path: folder), bytes, isXML: false)
    } else if name == MappingModelCopies.file {
      copies(in: path, of: folder)
    } else if name.hasSuffix(".mom") {
      guard let bytes = try? FileSystem.read(path, limit: ModelReference.limit) else { return }
      consider(FileSystem.stem(of: path), .file(path: path), bytes, isXML: false)
    } else if status.size >= 512, status.inode != store?.inode || status.device != store?.device,
      FileSystem.isDatabase(path), let found = try? Store(path: path), found.modelSource == .store
    {
      modelsRead += 1
      consider(FileSystem.stem(of: path), .store(path: path), found.model, contents: nil)
    }
  }

  /// Looks at the two models that a mapping model holds.
  private mutating func copies(in path: String, of folder: String) {
    guard let bytes = try? FileSystem.read(path, limit: ModelReference.limit),
      let copies = try? MappingModelCopies(bytes)
    else { return }
    for side in MappingModelCopies.Side.allCases {
      guard let model = try? copies.model(side) else { continue }
      modelsRead += 1
      consider(
        "\(FileSystem.stem(of: folder)), \(side.rawValue)",
        .file(path: folder + "@" + side.rawValue), model, contents: nil)
    }
  }

  private mutating func consider(
    _ name: String, _ origin: FoundModel.Origin, _ bytes: [UInt8], isXML: Bool
  ) {
    modelsRead += 1
    do {
      let model = isXML ? try Model(contents: bytes) : try Model(archive: bytes)
      consider(name, origin, model, contents: isXML ? bytes : nil)
    } catch {
      if case .file(let path) = origin { note("\(path) could not be read as a model.") }
    }
  }

  private mutating func consider(
    _ name: String, _ origin: FoundModel.Origin, _ model: Model, contents: [UInt8]?
  ) {
    let result = HashPattern.compare(hashes, with: model.versionHashes)
    let found = FoundModel(
      name: name, model: model, origin: origin, contents: contents, matching: result.matching,
      differing: result.differing)
    if !formerDigests.isEmpty {
      let digest = model.versionHashesDigest
      if formerDigests.contains(digest), former[digest] == nil { former[digest] = found }
    }
    guard takesMatches else { return }
    if found.isMatch {
      if matches.count < 1000 { matches.append(found) }
      return
    }
    if found.matching.count == model.entities.count { considerPart(found) }
    guard model.entities.contains(where: { hashes[$0.name] != nil }) else { return }
    guard let nearest, rank(nearest) >= rank(found) else {
      nearest = found
      return
    }
  }

  /// Of several with the same entities one that is there counts more than one of git history.
  private mutating func considerPart(_ found: FoundModel) {
    guard !found.matching.isEmpty else { return }
    guard let known = partial.firstIndex(where: { $0.matching == found.matching }) else {
      if partial.count < 1000 { partial.append(found) }
      return
    }
    if case .git = partial[known].origin { partial[known] = found }
  }

  /// Models that together have just the store's entities, where no model has them alone: those that the app merged.
  public var merged: [FoundModel] {
    guard matches.isEmpty,
      let places = ModelCover.places(
        of: partial.map { Set($0.matching) }, covering: Set(hashes.keys))
    else { return [] }
    return places.map { partial[$0] }
  }

  /// How near a model is: equal hashes, equal names, and little besides.
  private func rank(_ found: FoundModel) -> (Int, Int, Int) {
    (
      found.matching.count, found.model.entities.count { hashes[$0.name] != nil },
      -found.differing.count
    )
  }

  private mutating func history(around folder: String, isAsked: Bool) {
    guard !isGitMissing else { return }
    do {
      var history = try GitHistory(around: folder, git: git)
      guard repositories.insert(Array(history.repository.utf8)).inserted else { return }
      try history.list()
      var (read, known) = (0, matches.count)
      let (formerNearest, knownFormer) = (nearest, former)
      try history.read { blob, bytes in
        read += 1
        let isXML = blob.path.hasSuffix("contents")
        let name = FileSystem.stem(
          of: blob.path.hasSuffix(".mom")
            ? blob.path : FileSystem.parent(of: blob.path) ?? blob.path)
        let origin = FoundModel.Origin.git(
          .init(
            repository: history.repository, path: blob.path, blob: blob.id, isCurrent: false))
        consider(name, origin, bytes, isXML: isXML)
      }
      versionsRead += read
      // Only what is shown is asked about: each question is a run of git.
      let blobs = Dictionary(history.blobs.map { ($0.id, $0) }) { first, _ in first }
      while known < min(matches.count, 50) {
        matches[known] = try dated(matches[known], history, blobs)
        known += 1
      }
      if let found = nearest, found != formerNearest {
        nearest = try dated(found, history, blobs)
      }
      for (digest, found) in former where knownFormer[digest] == nil {
        former[digest] = try dated(found, history, blobs)
      }
    } catch GitHistory.Failure.missing {
      isGitMissing = true
      note("git is not installed: no history was searched.")
    } catch GitHistory.Failure.noRepository {
      if !isAsked { note("\(folder)/.git is not a repository.") }
    } catch GitHistory.Failure.refused(let reason) {
      note("The history of \(folder) could not be read: \(reason)")
    } catch {
      note("The history of \(folder) could not be read: \(error)")
    }
  }

  private func dated(
    _ found: FoundModel, _ history: GitHistory, _ blobs: [String: GitHistory.Blob]
  ) throws -> FoundModel {
    guard case .git(var origin) = found.origin, let blob = blobs[origin.blob] else { return found }
    (origin.first, origin.last, origin.isCurrent) = try history.life(of: blob)
    var copy = found
    copy.origin = .git(origin)
    return copy
  }

  private mutating func note(_ text: String) {
    if notes.count < 50, !notes.contains(text) { notes.append(text) }
  }
}

/// A model that a search came upon, with where it was and how well it fits.
public struct FoundModel: Sendable, Equatable {
  /// Where a model was found.
  public enum Origin: Sendable, Equatable {
    /// A .mom, or the folder of an .xcdatamodel.
    case file(path: String)
    /// The model cache of a store.
    case store(path: String)
    /// A commit of a git repository.
    case git(GitOrigin)
  }

  /// A content of a file in a repository's history.
  public struct GitOrigin: Sendable, Equatable {
    /// The repository's own folder (`.git`).
    public var repository: String
    /// The file's path within the repository.
    public var path: String
    /// git's name for the content, in hexadecimal; of Swift source, which is many files, the commit's.
    public var blob: String
    /// The first commit that had it; `nil` where the history was not asked.
    public var first: GitHistory.Commit?
    /// The last commit that had it: HEAD, where that has it still.
    public var last: GitHistory.Commit?
    /// Whether HEAD has it still.
    public var isCurrent: Bool
  }

  /// The version's name: that of the .xcdatamodel or .mom, or of the store.
  public var name: String
  /// The model itself.
  public var model: Model
  /// Where it was.
  public var origin: Origin
  /// The file's own XML, where it is such.
  public var contents: [UInt8]?
  /// Entities whose hashes are the store's, by name.
  public var matching: [String]
  /// Entities of either side whose hashes are not the other's, or that only one side has.
  public var differing: [String]

  /// Whether the hashes of all entities are the store's, so that Core Data would open it.
  public var isMatch: Bool { differing.isEmpty && !matching.isEmpty }

  /// Writes it as `NAME.xcdatamodel`: the very bytes found where they are XML, else rebuilt.
  ///
  /// - Returns: the path of the folder written.
  /// - Throws: ``CoreDataError``: refused where a folder of that name is there.
  public func export(to folder: String) throws -> String {
    let safe = name.filter { $0 != "/" && $0 != "\0" }
    let folderName = (safe.isEmpty || safe.hasPrefix(".") ? "Model" : safe) + ".xcdatamodel"
    let path = folder + "/" + folderName
    PendingOutput.removeAbandoned(beside: path)
    guard FileIdentity(of: path) == nil else {
      throw CoreDataError(
        .refused, "the folder exists already", path: path, hint: "Name another folder to export to."
      )
    }
    if let refusal = OutputPlace.refusal(toWrite: "the model", at: path, makesFolder: true) {
      throw refusal
    }
    let output = try PendingOutput(for: path, makesFolders: true)
    let made = try output.folder.createFolder(folderName, permissions: 0o755)
    let file = try made.create("contents")
    FileAttributes.makeOrdinary(file)
    try file.append(contents ?? Array(model.xcdatamodelContents().utf8))
    try output.sync(folderName)
    try output.finish()
    return path
  }
}
