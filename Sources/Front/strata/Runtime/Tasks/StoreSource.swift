import Commands
import Files
import Interface
import ManagedModel
import ManagedStore
import ModelSearch

/// Which store is looked at, and where the versions of its model are.
struct StoreSource: Sendable {
  let path: String
  /// What `--model` named.
  let model: String?
  /// What `--to` named.
  var destination: String?
  /// The models that are compared where no store is looked at.
  var models: [String] = []
  /// Where the rows are that were deleted from it, where those are meant.
  var remains: Remains?

  /// A private store of rows that were deleted from another.
  struct Remains: Sendable {
    let path: String
    let model: Model
  }

  /// Opens the store, one whose metadata or model cache cannot be read as well.
  func openAnyhow() throws -> Store {
    if let remains {
      let own = StoreFiles(path: FileSystem.canonical(path))
      return try Store(
        path: path, files: StoreFiles(path: remains.path, externalDataOf: own),
        model: remains.model)
    }
    do {
      return try open()
    } catch let error as CoreDataError where error.kind == .unreadable {
      let store = try? Store(
        path: path, files: StoreFiles(path: FileSystem.canonical(path)), isLenient: true,
        fallback: candidate)
      guard let store else { throw error }
      return store
    }
  }

  /// Opens the store with the model in it; `--model` serves if none exists.
  func open() throws -> Store {
    guard model != nil else { return try StoreOpening.opened(path) }
    return try Store(path: path, fallback: candidate)
  }

  /// What a store without a model in it is read with: a version of what `--model` named, or one that
  /// lies beside it.
  @Sendable func candidate(_ metadata: StoreMetadata) -> Model? {
    let hashes = metadata.versionHashes
    let named = model.flatMap { name in
      let reference = ModelReference(name)
      return ModelBundle.version(in: reference.path, making: hashes)?.model
        ?? (try? reference.load())?.model
    }
    return named ?? ModelBundle.version(besideStore: path, making: hashes)?.model
  }

  /// That the store is not of the model that `--model` named, in the words of `info`, and what it is
  /// shown with; `nil` where it is of it, or of one of its versions.
  func misfit(of store: Store) -> String? {
    guard let model, remains == nil, store.modelSource != .file else { return nil }
    let reference = ModelReference(model)
    let hashes = store.metadata.versionHashes
    let shown =
      store.modelSource == .raw
      ? "The tables are shown as they are." : "The rows are shown with the model in the store."
    if reference.version == nil, ModelBundle.version(in: reference.path, making: hashes) != nil {
      return nil
    }
    do {
      guard try !reference.load().model.makes(hashes) else { return nil }
      return
        "The version hashes of --model are not those of the store (134100). \(shown)"
    } catch {
      let error = CoreDataError(error, or: .unreadable)
      return "--model \(model.printable): \(error.message). \(shown)"
    }
  }

  /// The versions of the named bundle or of the one beside the store, the store's own among them.
  func versions(of model: Model, hashes: [String: VersionHash]) -> [ModelVersion] {
    var candidates: [[ModelVersion]] = bundles.map { self.versions(inBundle: $0, hashes: hashes) }
    if let named = self.model {
      let reference = ModelReference(named)
      if !FileSystem.isDirectory(reference.path) && !SwiftSources.isFile(reference.path)
        || named.hasSuffix(".xcdatamodel")
      {
        candidates.insert([single(reference, named, hashes: hashes)], at: 0)
      }
    }
    candidates.removeAll(where: \.isEmpty)
    var versions = candidates.first { $0.contains { $0.isStores } } ?? candidates.first ?? []
    if !versions.contains(where: { $0.isStores }) {
      let name = Model.versionName(identifiers: model.versionIdentifiers, hashes: hashes)
      versions.insert(
        ModelVersion(name: name, path: "", isStores: true, result: .success(model)), at: 0)
    }
    if let destination { try? add(destination, to: &versions, hashes: hashes) }
    return versions
  }

  /// The versions of the models that are compared, those among them that were named marked.
  func comparedVersions() throws -> [ModelVersion] {
    var versions: [ModelVersion] = []
    for text in models { try add(text, to: &versions, hashes: [:]) }
    return versions
  }

  /// Marks the version that `--to` named, and adds it where it is not among the others.
  private func add(
    _ text: String, to versions: inout [ModelVersion], hashes: [String: VersionHash]
  ) throws {
    let loaded = try ModelReference(text).load()
    if !versions.contains(where: { $0.path == loaded.path }) {
      let known = Set(versions.map(\.path))
      versions += try self.versions(at: text, hashes: hashes).filter { !known.contains($0.path) }
    }
    if let index = versions.firstIndex(where: { $0.path == loaded.path }) {
      versions[index].isWanted = true
    }
  }

  /// The versions at a path: all of a bundle, or the one that `PATH@VERSION`, `PATH@REVISION`, a
  /// file or a store names.
  func versions(at text: String, hashes: [String: VersionHash]) throws -> [ModelVersion] {
    let reference = ModelReference(text)
    if reference.version == nil,
      FileSystem.isDirectory(reference.path) || SwiftSources.isFile(reference.path),
      !reference.path.hasSuffix(".xcdatamodel")
    {
      let path = text.count > 1 && text.hasSuffix("/") ? String(text.dropLast()) : text
      // What is wrong with a folder that is no bundle is reported by reading it.
      let versions = versions(inBundle: path, hashes: hashes)
      if !versions.isEmpty { return versions }
    }
    let loaded = try reference.load()
    return [
      ModelVersion(
        name: loaded.name, path: loaded.path, isStores: loaded.model.makes(hashes),
        result: .success(loaded.model))
    ]
  }

  private var bundles: [String] {
    if let model {
      let path = ModelReference(model).path
      return FileSystem.isDirectory(path) && !path.hasSuffix(".xcdatamodel")
        || SwiftSources.isFile(path) ? [path] : []
    }
    let folder = FileSystem.parent(of: path) ?? "."
    return ((try? FileSystem.list(folder)) ?? []).sorted()
      .filter { $0.hasSuffix(".xcdatamodeld") || $0.hasSuffix(".momd") }
      .map { folder == "." ? $0 : folder + "/" + $0 }
  }

  private func versions(inBundle path: String, hashes: [String: VersionHash]) -> [ModelVersion] {
    guard let bundle = try? ModelBundle(readingFrom: path) else { return [] }
    return bundle.versions.map { version in
      ModelVersion(
        name: version.name, path: path + "@" + version.name,
        isStores: (try? version.model)?.makes(hashes) ?? false,
        isCurrent: version.name == bundle.currentVersionName, result: version.result)
    }
  }

  private func single(
    _ reference: ModelReference, _ path: String, hashes: [String: VersionHash]
  ) -> ModelVersion {
    do {
      let loaded = try reference.load()
      return ModelVersion(
        name: loaded.name, path: path, isStores: loaded.model.makes(hashes),
        result: .success(loaded.model))
    } catch {
      let error = CoreDataError(error, or: .unreadable).at(path: path)
      return ModelVersion(
        name: FileSystem.stem(of: reference.path), path: path, result: .failure(error))
    }
  }
}

extension Model {
  /// Whether stores of the model, or of one of its configurations, state these hashes.
  fileprivate func makes(_ hashes: [String: VersionHash]) -> Bool {
    let own = versionHashes
    guard !hashes.isEmpty else { return false }
    return own == hashes || !configurations(matching: hashes, of: own).isEmpty
  }
}
