import Files
import ManagedModel
import ManagedStore
import SwiftModels

/// A model as a person names it: a path to any form of model, `PATH@VERSION`, `PATH@REVISION` of the
/// git repository that the path is in, or a store.
public struct ModelReference: Sendable, Equatable {
  /// Path of the model, bundle or store.
  public let path: String
  /// The version asked for by name, or the git revision; `nil` for the current or only one.
  public let version: String?
  /// The references of several models that are merged into one, as an app does; empty for one model.
  public let parts: [ModelReference]

  /// What stands between the models that are merged: `A.momd + B.momd@'B 2'`.
  package static let separator = " + "

  /// Splits `PATH@VERSION`, and several of these with a ` + ` between them; a path that exists as it stands is not
  /// split.
  public init(_ text: String) {
    let texts = Self.several(text)
    parts = texts.count > 1 ? texts.map(ModelReference.init) : []
    if texts.count > 1 {
      path = text
      version = nil
    } else if FileSystem.status(text) == nil, let mark = text.lastIndex(of: "@") {
      path = String(text[..<mark])
      version = String(text[text.index(after: mark)...])
    } else {
      path = text
      version = nil
    }
  }

  /// The references in a text; a path that has the separator in its name is one.
  private static func several(_ text: String) -> [String] {
    guard text.contains(separator), FileSystem.status(text) == nil else { return [text] }
    func exists(_ text: String) -> Bool {
      FileSystem.status(text) != nil
        || text.lastIndex(of: "@").map { FileSystem.status(String(text[..<$0])) != nil } == true
    }
    var texts: [String] = []
    for part in text.split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    {
      // A part behind one that is no model by itself belongs to it where both together are one.
      if let last = texts.last, !exists(last), exists(last + separator + part) {
        texts[texts.count - 1] = last + separator + part
      } else {
        texts.append(part)
      }
    }
    return texts
  }

  /// A model with what is known of its origin.
  public struct Loaded: Sendable, Equatable {
    /// The model itself.
    public var model: Model
    /// The version's name in its bundle, or the file's name.
    public var name: String
    /// Where it came from, as `PATH` or `PATH@VERSION`.
    public var path: String
    /// The keyed archive it was read from, where it came as one.
    public var archive: [UInt8]?

    /// Makes a loaded model, for one that came from elsewhere.
    public init(model: Model, name: String, path: String, archive: [UInt8]? = nil) {
      self.model = model
      self.name = name
      self.path = path
      self.archive = archive
    }
  }

  /// Reads the model: a version by name, or the current one of a bundle.
  ///
  /// What follows the `@` is a version's name first; if no version has that name, a commit,
  /// branch or tag of git, whose state of the path is read. `PATH@VERSION@REVISION` names both.
  ///
  /// - Throws: ``CoreDataError``: unreadable for a file that is no model, usage for an unknown
  ///   version, naming those there are.
  public func load() throws -> Loaded {
    guard parts.isEmpty else {
      let loaded = try parts.map { try $0.load() }
      return Loaded(
        model: try located(path) { try Model(merging: loaded.map(\.model)) },
        name: loaded.map(\.name).joined(separator: Self.separator),
        path: loaded.map(\.path).joined(separator: Self.separator))
    }
    let path =
      self.path.count > 1 && self.path.hasSuffix("/") ? String(self.path.dropLast()) : self.path
    if let version, try isRevision(version, of: path) {
      return try revision(version, of: path)
    }
    guard let status = FileSystem.status(path) else {
      throw CoreDataError(
        .unreadable, "there is no such file or folder", path: path,
        hint: "Give a .xcdatamodeld, .momd, .xcdatamodel, .mom, Swift source, or a store.")
    }
    if SwiftSources.isFile(path) {
      return try Loaded(SwiftSources.models(at: path), version: version, path: path)
    }
    if Self.isMappingModel(path) {
      return try copy(in: path, status.kind == .directory)
    }
    if status.kind == .directory {
      if path.hasSuffix(".xcdatamodel") {
        try rejectVersion()
        let file = path + "/" + ModelBundle.sourceFile(in: path)
        return Loaded(
          model: try located(file) {
            let bytes = try FileSystem.read(file, limit: Self.limit)
            return try file.hasSuffix(ModelBundle.elements)
              ? Model(archive: bytes) : Model(contents: bytes)
          }, name: FileSystem.stem(of: path), path: path)
      }
      let files = try ModelBundle.files(in: path)
      if files.isEmpty, !ModelBundle.isBundle(path) {
        return try Loaded(SwiftSources.models(at: path), version: version, path: path)
      }
      let bundle = try located(path) {
        try ModelBundle(name: FileSystem.stem(of: path), files: files)
      }
      let chosen = try located(path) { () throws -> ModelBundle.Version in
        if let version { return try bundle.version(named: version) }
        if let current = bundle.currentVersion { return current }
        throw CoreDataError(
          .usage, "the bundle does not say which of its versions is current", path: path,
          hint: "Name one: \(path)@VERSION, of "
            + bundle.versions.map { "“\($0.name)”" }.joined(separator: ", "))
      }
      let file = path + "/" + chosen.path
      let archive = file.hasSuffix(".mom") ? try? FileSystem.read(file, limit: Self.limit) : nil
      return Loaded(
        model: try located(file) { try chosen.model }, name: chosen.name,
        path: path + "@" + chosen.name,
        archive: archive)
    }
    try rejectVersion()
    let head = try FileSystem.read(path, limit: 16)
    // An empty store's -wal may hold all there is: opening says so.
    if head.starts(with: Array("SQLite format 3".utf8))
      || head.isEmpty && FileSystem.status(StoreFiles(path: path).walPath) != nil
    {
      let store = try Store(path: path)
      guard store.modelSource != .raw else {
        throw CoreDataError(
          .unreadable, code: .migrationMissingSourceModel,
          "the store has no model in it (Z_MODELCACHE is missing or empty)", path: path,
          advice: "Name the model itself; \(.deed("model-search")) searches for it.")
      }
      return Loaded(model: store.model, name: FileSystem.name(of: path), path: path)
    }
    let bytes = try FileSystem.read(path, limit: Self.limit)
    if head.starts(with: Array("bplist".utf8)) {
      let isCompiled = !path.hasSuffix("/" + ModelBundle.elements)
      let folder = FileSystem.parent(of: path) ?? "."
      return Loaded(
        model: try located(path) { try Model(archive: bytes) },
        name: FileSystem.stem(of: isCompiled ? path : folder), path: path,
        archive: isCompiled ? bytes : nil)
    }
    try Self.requireXML(bytes, path: path, or: ", or a store")
    let folder = FileSystem.parent(of: path) ?? "."
    return Loaded(
      model: try located(path) { try Model(contents: bytes) },
      name: folder.hasSuffix(".xcdatamodel")
        ? FileSystem.stem(of: folder) : FileSystem.stem(of: path),
      path: path)
  }

  /// Refuses what is no XML, before anybody looks for the mistake in it.
  ///
  /// - Parameter other: what else could have been given.
  package static func requireXML(
    _ bytes: [UInt8], path: String, or other: String = ""
  ) throws {
    if let form = AtomicStoreForm(head: Array(bytes.prefix(AtomicStoreForm.headSize))) {
      throw CoreDataError(
        .unreadable, "this is \(form.noun), which holds no model", path: path,
        hint:
          "Give the model that the app has for it: a .xcdatamodeld, .momd, .xcdatamodel, .mom or Swift source."
      )
    }
    let first = bytes.first { ![9, 10, 13, 32].contains($0) }
    if first == UInt8(ascii: "<") || bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return }
    throw CoreDataError(
      .unreadable, first == nil ? "the file is empty" : "this is not a model", path: path,
      hint: "Give a .xcdatamodeld, .momd, .xcdatamodel, .mom, Swift source\(other).")
  }

  /// Most bytes of a model file that are read.
  package static let limit = 64 << 20

  /// Whether a file or folder is a mapping model, which holds two models.
  private static func isMappingModel(_ path: String) -> Bool {
    path.hasSuffix(".xcmappingmodel") || path.hasSuffix("/" + MappingModelCopies.file)
  }

  /// Whether what follows the `@` can only be a git revision.
  private func isRevision(_ version: String, of path: String) throws -> Bool {
    guard let status = FileSystem.status(path) else { return true }
    if let models = ModelBundle.sources(at: path) { return models.version(named: version) == nil }
    if Self.isMappingModel(path), MappingModelCopies.Side(rawValue: version) != nil {
      return false
    }
    guard status.kind == .directory else {
      let head = try FileSystem.read(path, limit: 16)
      return !head.starts(with: Array("SQLite format 3".utf8))
    }
    guard !path.hasSuffix(".xcdatamodel") else { return true }
    return (try? ModelBundle(readingFrom: path).version(named: version)) == nil
  }

  private func revision(_ revision: String, of path: String) throws -> Loaded {
    var (path, inner) = (path, String?.none)
    if FileSystem.status(path) == nil, let mark = path.lastIndex(of: "@") {
      inner = String(path[path.index(after: mark)...])
      path = String(path[..<mark])
    }
    do {
      return try GitRevision(revision, of: path).load(version: inner)
    } catch let reason as GitRevision.Unknown where reason.isIncomplete {
      throw GitRevision(revision, of: path).incomplete(reason)
    } catch let reason as GitRevision.Unknown {
      let names =
        path.hasSuffix(".xcdatamodel")
        ? nil
        : (try? ModelBundle(readingFrom: path))?.versions.map(\.name)
      guard let names else {
        if FileSystem.status(path) != nil { try rejectVersion(alsoTried: reason.description) }
        throw CoreDataError(
          .unreadable, "there is no such file or folder, and \(reason.description)", path: path,
          hint: "Give a .xcdatamodeld, .momd, .xcdatamodel, .mom, Swift source, or a store.")
      }
      throw CoreDataError(
        .usage,
        "“\(revision)” is neither a version of the bundle nor a git revision: \(reason.description)",
        path: path, hint: Nearest.hint(ofVersion: revision, in: names))
    }
  }

  /// One of the two models that a mapping model holds.
  private func copy(in path: String, _ isFolder: Bool) throws -> Loaded {
    guard let side = version.flatMap(MappingModelCopies.Side.init) else {
      throw CoreDataError(
        .usage, "a mapping model holds two models", path: path,
        hint: "Name one: \(ShellText.quoted(path))@source or \(ShellText.quoted(path))@destination")
    }
    let file = isFolder ? path + "/" + MappingModelCopies.file : path
    let model = try located(file) {
      try MappingModelCopies(FileSystem.read(file, limit: Self.limit)).model(side)
    }
    return Loaded(
      model: model, name: "\(FileSystem.stem(of: path)), \(side.rawValue)",
      path: path + "@" + side.rawValue)
  }

  private func rejectVersion(alsoTried reason: String? = nil) throws {
    guard let version else { return }
    throw CoreDataError(
      .usage,
      "only a bundle has versions, so “@\(version)” means nothing here"
        + (reason.map { "; as a git revision: \($0)" } ?? ""), path: path,
      hint: "Leave out what follows the @, or name a .xcdatamodeld or .momd.")
  }

  private func located<T>(_ path: String, _ body: () throws -> T) throws -> T {
    do { return try body() } catch let error as CoreDataError { throw error.at(path: path) }
  }
}

extension ModelReference.Loaded {
  /// Chooses a version out of Swift source.
  init(_ models: SourceModels, version: String?, path: String, suffix: String = "") throws {
    let chosen = try models.chosen(version, path: path + suffix)
    do {
      model = try chosen.model
    } catch {
      throw error.at(path: chosen.place?.path ?? path)
    }
    name = chosen.name + suffix
    self.path = chosen.place == nil ? path + suffix : path + "@" + chosen.name + suffix
  }
}
