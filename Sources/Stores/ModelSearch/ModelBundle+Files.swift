import Files
import ManagedModel
import SwiftModels

extension ModelBundle {
  /// Reads a .xcdatamodeld or .momd folder, or the versions that Swift source declares.
  ///
  /// - Throws: ``CoreDataError`` where the folder or a file in it cannot be read.
  public init(readingFrom path: String) throws {
    let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    if SwiftSources.isFile(path) {
      self.init(try SwiftSources.models(at: path), name: FileSystem.stem(of: path))
      return
    }
    let files = try Self.files(in: path)
    if files.isEmpty, !Self.isBundle(path) {
      self.init(try SwiftSources.models(at: path), name: FileSystem.stem(of: path))
      return
    }
    do {
      try self.init(name: FileSystem.stem(of: path), files: files)
    } catch {
      throw error.at(path: path)
    }
  }

  /// The models of Swift source, where that is what is at the path.
  static func sources(at path: String) -> SourceModels? {
    guard
      SwiftSources.isFile(path)
        || FileSystem.isDirectory(path) && !isBundle(path) && !path.hasSuffix(".xcdatamodel")
          && (try? files(in: path).isEmpty) == true
    else { return nil }
    return try? SwiftSources.models(at: path)
  }

  /// Whether it is a folder of models by its name.
  package static func isBundle(_ path: String) -> Bool {
    path.hasSuffix(".xcdatamodeld") || path.hasSuffix(".momd")
  }

  /// Whether the name is that of a bundle, or of a single version.
  package static func isModel(_ path: String) -> Bool {
    isBundle(path) || path.hasSuffix(".xcdatamodel") || path.hasSuffix(".mom")
  }

  /// The file of an .xcdatamodel that has the model: `contents`, or else Xcode 3's `elements`.
  package static func sourceFile(in folder: String) -> String {
    !FileSystem.isFile(folder + "/contents") && FileSystem.isFile(folder + "/" + elements)
      ? elements : "contents"
  }

  /// The files of models that are in a folder, by their paths in it.
  package static func files(in path: String) throws -> [String: [UInt8]] {
    guard FileSystem.isDirectory(path) else {
      throw CoreDataError(.unreadable, "this is not a folder of models", path: path)
    }
    var files: [String: [UInt8]] = [:]
    for name in try FileSystem.list(path) {
      let inner = path + "/" + name
      if ModelBundle.isRelevant(name), FileSystem.isFile(inner) {
        files[name] = try FileSystem.read(inner, limit: ModelReference.limit)
      } else if FileSystem.isDirectory(inner), ModelBundle.isRelevant(name + "/contents") {
        let file = sourceFile(in: inner)
        guard FileSystem.isFile(inner + "/" + file) else { continue }
        files[name + "/" + file] = try FileSystem.read(
          inner + "/" + file, limit: ModelReference.limit)
      }
    }
    return files
  }
}

extension ModelBundle {
  /// The version of a bundle, by its path, that has these hashes, or a configuration that has; a
  /// version that cannot be read is passed over.
  package static func version(
    in path: String, making hashes: [String: VersionHash]
  ) -> (model: Model, name: String)? {
    guard let bundle = try? ModelBundle(readingFrom: path) else { return nil }
    var ofConfiguration: (model: Model, name: String)?
    for version in bundle.versions {
      guard let model = try? version.model else { continue }
      let own = model.versionHashes
      if own == hashes { return (model, version.name) }
      // Of several that differ elsewhere only, the last knows the most renaming identifiers.
      if !model.configurations(matching: hashes, of: own).isEmpty {
        ofConfiguration = (model, version.name)
      }
    }
    return ofConfiguration
  }

  /// The version that has these hashes in the bundles that lie beside a store.
  package static func version(
    besideStore path: String, making hashes: [String: VersionHash]
  ) -> (model: Model, name: String)? {
    let folder = FileSystem.parent(of: path) ?? "."
    for name in (try? FileSystem.list(folder)) ?? []
    where name.hasSuffix(".momd") || name.hasSuffix(".xcdatamodeld") {
      if let found = version(in: folder + "/" + name, making: hashes) { return found }
    }
    return merged(besideStore: path, making: hashes)
  }

  /// The versions of several bundles beside a store that have its hashes together, merged.
  private static func merged(
    besideStore path: String, making hashes: [String: VersionHash]
  ) -> (model: Model, name: String)? {
    let folder = FileSystem.parent(of: path) ?? "."
    var candidates: [(model: Model, name: String, entities: Set<String>)] = []
    for name in (try? FileSystem.list(folder)) ?? [] where isBundle(name) {
      guard let bundle = try? ModelBundle(readingFrom: folder + "/" + name) else { continue }
      for version in bundle.versions {
        guard let model = try? version.model else { continue }
        let own = model.versionHashes
        guard !own.isEmpty, own.allSatisfy({ hashes[$0.key] == $0.value }) else { continue }
        candidates.append((model, version.name, Set(own.keys)))
      }
    }
    guard
      let places = ModelCover.places(
        of: candidates.map(\.entities), covering: Set(hashes.keys)),
      let model = try? Model(merging: places.map { candidates[$0].model })
    else { return nil }
    return (model, places.map { candidates[$0].name }.joined(separator: ModelReference.separator))
  }
}
