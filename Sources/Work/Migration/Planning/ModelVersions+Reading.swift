import Files
import ManagedModel
import Mapping
import ModelSearch

extension ModelVersions {
  /// Reads a .momd or .xcdatamodeld, a single model, a folder with any of these directly in it, or
  /// Swift source.
  ///
  /// A version that is there twice under one name, compiled and as source, counts once.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable where no model is, or none can be read.
  public init(readingFrom path: String) throws {
    let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    guard let status = FileSystem.status(path) else {
      throw CoreDataError(
        .unreadable, "there are no models", path: path,
        hint: "Give a .xcdatamodeld or .momd, or a folder of models.")
    }
    var reading = Reading()
    if status.kind == .directory, !ModelBundle.isModel(path) {
      for name in try FileSystem.list(path) where ModelBundle.isModel(name) {
        reading.read(path + "/" + name)
      }
      if reading.found.isEmpty, reading.unreadable.isEmpty { reading.read(bundle: path) }
    } else {
      reading.read(path)
    }
    guard !reading.found.isEmpty else {
      throw reading.unreadable.first
        ?? CoreDataError(
          .unreadable, "no model is in the folder", path: path,
          hint: "Give a .xcdatamodeld or .momd, or a folder that directly contains them.")
    }
    self.init(reading.versions, unreadable: reading.unreadable, path: path)
    guard versions.count <= Self.limit else {
      throw CoreDataError(
        .usage, "\(versions.count) versions are too many to search for a path", path: path,
        hint: "Give a folder with at most \(Self.limit) of them.")
    }
  }
}

/// Models as they are found in a folder, before those found twice are taken as one.
private struct Reading {
  var found: [(bundle: String, version: ModelVersions.Version)] = []
  var unreadable: [CoreDataError] = []

  mutating func read(_ path: String) {
    if [".momd", ".xcdatamodeld", ".swift"].contains(where: path.hasSuffix) {
      return read(bundle: path)
    }
    do {
      add(try ModelReference(path).load(), bundle: FileSystem.name(of: path))
    } catch {
      note(error, path)
    }
  }

  /// Reads all versions that are at a path: in a bundle, or in Swift source.
  mutating func read(bundle path: String) {
    do {
      let bundle = try ModelBundle(readingFrom: path)
      for version in bundle.versions { add(version, of: bundle, at: path) }
    } catch {
      note(error, path)
    }
  }

  /// One that cannot be read hides no other.
  private mutating func add(
    _ version: ModelBundle.Version, of bundle: ModelBundle, at path: String
  ) {
    let file = path + "/" + version.path
    switch version.result {
    case .success(let model):
      let archive =
        file.hasSuffix(".mom") ? try? FileSystem.read(file, limit: ModelReference.limit) : nil
      add(
        .init(model: model, name: version.name, path: path + "@" + version.name, archive: archive),
        bundle: bundle.name)
    case .failure(let error): note(error, path + "@" + version.name)
    }
  }

  private mutating func add(_ loaded: ModelReference.Loaded, bundle: String) {
    let version = ModelVersions.Version(
      name: loaded.name, model: loaded.model, path: loaded.path, archive: loaded.archive)
    guard
      let index = found.firstIndex(where: {
        $0.version.name == version.name && $0.version.hashes == version.hashes
      })
    else { return found.append((bundle, version)) }
    // The compiled form goes into a store as it is.
    if found[index].version.archive == nil, version.archive != nil {
      found[index] = (bundle, version)
    }
  }

  private mutating func note(_ error: any Error, _ path: String) {
    unreadable.append(
      CoreDataError(error, or: .unreadable).at(path: path))
  }

  var versions: [ModelVersions.Version] {
    let shared = Dictionary(grouping: found, by: \.version.name).filter { $0.value.count > 1 }
    return found.map { bundle, found in
      var version = found
      if shared[found.name] != nil { version.name = bundle + "/" + found.name }
      return version
    }
  }
}
