import Files
import ManagedModel
import ModelSearch

/// Everything that is looked at together: the models at a path, and what lies around them.
struct LintTarget {
  /// The path as it was given, without a slash at its end.
  let path: String
  private(set) var models: [LintedModel] = []
  /// Mapping models beside them.
  private(set) var mappings: [String] = []
  /// Why it is taken that the app uses CloudKit, as a clause; `nil` where nothing says so.
  private(set) var cloudKit: String?
  private(set) var notes: [String] = []
  private var filesSeen = 0
  private var hasSource = false

  private static let fileLimit = 200_000
  private static let depthLimit = 32
  /// Files that are searched for words: no source is larger.
  private static let searchLimit = 1 << 20

  /// Reads a bundle, a single model, Swift source, or a folder with any of these in it.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable where nothing of the kind is there.
  init(_ text: String) throws {
    let reference = ModelReference(text)
    var path = reference.path.withoutSlash
    // Within a bundle it is the bundle that is meant.
    if path == ".", ModelBundle.isModel(FileSystem.canonical(path)) {
      path = FileSystem.canonical(path)
    }
    self.path = path
    guard reference.version == nil else {
      try read(path, version: reference.version ?? "")
      return
    }
    guard let status = FileSystem.status(path) else {
      throw CoreDataError(
        .unreadable, "there are no models", path: path,
        hint: "Give a .xcdatamodeld, .momd, .xcdatamodel, .mom, Swift source, or a folder of these."
      )
    }
    if SwiftSources.isFile(path) {
      models = [LintedModel(path: path, try SwiftSources.models(at: path))]
      look(inFile: path, status.size)
    } else if status.kind != .directory || ModelBundle.isModel(path) {
      models = [try Self.model(at: path)]
      // Mapping models lie beside a bundle, or in a folder beside it.
      for folder in [FileSystem.parent(of: path) ?? "."] { lookBeside(folder, depth: 0) }
    } else {
      try walk(path, depth: 0)
      try readSource(path)
    }
  }

  /// Models that were read.
  init(path: String, models: [LintedModel], mappings: [String] = []) {
    self.path = path
    self.models = models
    self.mappings = mappings
  }

  /// A version by name, or everything as a revision has it.
  private mutating func read(_ path: String, version: String) throws {
    let present = FileSystem.status(path) == nil ? nil : try? LintTarget(path)
    if var target = present, target.models.count == 1,
      let name = target.models[0].name(ofVersion: version)
    {
      target.models[0].currentName = name
      self = target
      return
    }
    models = try Self.models(at: path, revision: version)
    guard models.isEmpty else { return }
    let known = present?.models.flatMap { $0.versions.map(\.name) } ?? []
    throw CoreDataError(
      .unreadable, "“\(version)” is not a version there, and has no model at this path", path: path,
      hint: known.isEmpty ? nil : Nearest.hint(ofVersion: version, in: known))
  }

  /// The mapping models, each once: the compiled form of one whose source is there as well says the
  /// same.
  var distinctMappings: [String] {
    let sources = Set(
      mappings.filter { $0.hasSuffix(".xcmappingmodel") }.map(FileSystem.stem(of:)))
    return mappings.filter {
      $0.hasSuffix(".xcmappingmodel") || !sources.contains(FileSystem.stem(of: $0))
    }
  }

  /// The model of a bundle, of a .xcdatamodel or of a file.
  private static func model(at path: String) throws -> LintedModel {
    let files =
      FileSystem.isDirectory(path)
      ? try ModelBundle.files(in: path)
      : ["": try FileSystem.read(path, limit: ModelReference.limit)]
    if let bytes = files[""], !bytes.starts(with: Array("bplist".utf8)) {
      try ModelReference.requireXML(bytes, path: path, or: ", or a folder of these")
    }
    // A .xcdatamodel is a folder with its one version in it.
    var all = files
    if path.hasSuffix(".xcdatamodel"), all["contents"] == nil {
      all["contents"] = try FileSystem.read(path + "/contents", limit: ModelReference.limit)
    }
    do { return try LintedModel(path: path, files: all) } catch let error as CoreDataError {
      throw error.at(path: path)
    }
  }

  /// The models that were at a path, and below it.
  static func models(at path: String, revision: String) throws -> [LintedModel] {
    let git = GitRevision(revision, of: path)
    var models: [LintedModel] = []
    if ModelBundle.isModel(path) || SwiftSources.isFile(path) {
      let (files, source) = try git.contents()
      if let source, !source.versions.isEmpty { return [LintedModel(path: path, source)] }
      return files.isEmpty ? [] : [try LintedModel(path: path, files: files)]
    }
    for inner in try git.modelPaths() {
      let inner = inner.isEmpty ? path : inner.within(path)
      let (files, _) = try GitRevision(revision, of: inner).contents()
      // What could not be read then is no base.
      if let model = try? LintedModel(path: inner, files: files) { models.append(model) }
    }
    if models.isEmpty || !FileSystem.isFile(path), let source = try git.source(),
      !source.versions.isEmpty
    {
      models.append(LintedModel(path: path, source))
    }
    return models
  }

  // MARK: Folders

  private mutating func walk(_ folder: String, depth: Int) throws {
    guard depth < Self.depthLimit else { return }
    for name in try FileSystem.list(folder) where SwiftSources.isEntered(name) {
      let path = name.within(folder)
      filesSeen += 1
      guard filesSeen <= Self.fileLimit else {
        throw CoreDataError(
          .unreadable, "too many files to check", path: self.path,
          hint: "Give the folder that the models are in.")
      }
      guard let status = FileSystem.status(path) else { continue }
      if ModelBundle.isModel(name) {
        do { models.append(try Self.model(at: path)) } catch let error as CoreDataError {
          // One that cannot be read hides no other.
          var empty = LintedModel(path: path, versionsUnreadable: error)
          empty.currentName = nil
          models.append(empty)
        }
      } else if Self.isMapping(name) {
        mappings.append(path)
      } else if status.kind == .directory {
        if FileSystem.target(ofLink: path) == nil { try? walk(path, depth: depth + 1) }
      } else {
        if SwiftSources.isFile(name) { hasSource = true }
        look(inFile: path, status.size)
      }
    }
  }

  private mutating func lookBeside(_ folder: String, depth: Int) {
    for name in ((try? FileSystem.list(folder)) ?? []).prefix(2_000)
    where SwiftSources.isEntered(name) {
      let path = name.within(folder)
      if Self.isMapping(name) {
        mappings.append(path)
      } else if depth == 0, !ModelBundle.isModel(name), FileSystem.isDirectory(path),
        FileSystem.target(ofLink: path) == nil
      {
        lookBeside(path, depth: 1)
      }
    }
  }

  private static func isMapping(_ name: String) -> Bool {
    name.hasSuffix(".xcmappingmodel") || name.hasSuffix(".cdm")
  }

  private mutating func readSource(_ path: String) throws {
    guard hasSource || models.isEmpty else { return }
    do {
      models.append(LintedModel(path: path, try SwiftSources.models(at: path)))
    } catch let error as CoreDataError {
      // Source without classes beside models is an app with Core Data.
      guard models.isEmpty else { return }
      throw error
    }
  }

  /// Looks for what shows that CloudKit is used.
  private mutating func look(inFile path: String, _ size: Int) {
    guard cloudKit == nil, size <= Self.searchLimit else { return }
    let isEntitlements = path.hasSuffix(".entitlements")
    guard isEntitlements || SwiftSources.isFile(path) || path.hasSuffix(".m"),
      let bytes = try? FileSystem.read(path, limit: Self.searchLimit)
    else { return }
    let words =
      isEntitlements
      ? ["<string>CloudKit"] : ["NSPersistentCloudKitContainer", "cloudKitDatabase:"]
    for word in words where CloudKitWords.contains(word, in: bytes) {
      cloudKit = "\(path) names \(word.filter { $0.isLetter })"
    }
  }
}

extension LintedModel {
  /// What holds versions and cannot be read at all.
  init(path: String, versionsUnreadable error: CoreDataError) {
    self.path = path
    form = .bundle
    versions = []
    unreadable = [error.at(path: path)]
  }

  /// The name of the version that is called so.
  func name(ofVersion name: String) -> String? {
    if versions.contains(where: { $0.name == name }) { return name }
    let ends = versions.filter { $0.name.hasSuffix("." + name) || $0.source?.identifier == name }
    return ends.count == 1 ? ends[0].name : nil
  }
}

extension String {
  /// The path of a name in a folder; in the current one it is the name, as build servers match files.
  func within(_ folder: String) -> String { folder == "." ? self : folder + "/" + self }

  /// A path without the slash at its end.
  var withoutSlash: String { count > 1 && hasSuffix("/") ? String(dropLast()) : self }
}

/// The search for words in source.
enum CloudKitWords {
  /// Whether a word stands in a file, `cloudKitDatabase: .none` apart.
  static func contains(_ word: String, in bytes: [UInt8]) -> Bool {
    let pattern = Array(word.utf8)
    var start = 0
    while let found = ByteSearch.place(of: pattern, in: bytes, from: start) {
      start = found + pattern.count
      let rest = bytes[start...].prefix(40).drop { $0 == 32 || $0 == 10 || $0 == 9 }
      if !rest.starts(with: Array(".none".utf8)) { return true }
    }
    return false
  }
}
