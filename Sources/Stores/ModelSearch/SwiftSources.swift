import Files
import ManagedModel
import SwiftModels

/// Swift source as a form of model: a file, a folder of files, or the folder of a package.
package enum SwiftSources {
  /// Most files of one folder that are read, and the deepest folder below it.
  private static let fileLimit = 20_000
  private static let depthLimit = 32
  /// Most bytes that are read of all files.
  private static let byteLimit = 256 << 20
  /// Folders in which no source of the app's own is.
  private static let foreign: Set<String> = [
    "DerivedData", "Pods", "Carthage", "node_modules", "build",
  ]

  /// Whether it is a file of source by its name.
  package static func isFile(_ path: String) -> Bool { path.hasSuffix(".swift") }

  /// Whether a file of a folder, by its path in it, is one that is read with the folder.
  static func isRead(_ path: String) -> Bool {
    var parts = path.split(separator: "/").map(String.init)
    guard let name = parts.popLast(), isFile(name), !name.hasPrefix(".") else { return false }
    return parts.count < depthLimit && parts.allSatisfy(isEntered)
  }

  /// Whether a folder of that name is looked into.
  package static func isEntered(_ folder: String) -> Bool {
    !folder.hasPrefix(".") && !folder.hasSuffix("Tests") && !foreign.contains(folder)
  }

  /// The models that the source at a path declares.
  ///
  /// Hidden folders are passed over, also those of tests, whose classes are in no store of an app,
  /// unless they are asked for themselves; links to folders are not followed.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable where a file cannot be read, or no class in any
  ///   has `@Model`.
  package static func models(at path: String) throws -> SourceModels {
    var files: [SourceModels.File] = []
    if FileSystem.isDirectory(path) {
      var left = byteLimit
      try collect(path, depth: 0, &files, &left)
    } else {
      files = [.init(path: path, bytes: try FileSystem.read(path, limit: ModelReference.limit))]
    }
    let models = SourceModels(files, name: name(of: path))
    guard !models.versions.isEmpty else {
      throw CoreDataError(
        .unreadable,
        files.isEmpty
          ? "no model and no Swift source is in the folder"
          : "no class in the Swift source has @Model", path: path,
        hint: "Give the folder that the app's SwiftData classes are in.")
    }
    return models
  }

  /// What a version without a name of its own is called.
  static func name(of path: String) -> String {
    let name = FileSystem.name(of: path)
    return name == "." || name == ".."
      ? FileSystem.name(of: FileSystem.canonical(path)) : FileSystem.stem(of: path)
  }

  private static func collect(
    _ folder: String, depth: Int, _ files: inout [SourceModels.File], _ left: inout Int
  ) throws {
    guard depth < depthLimit else { return }
    for name in try FileSystem.list(folder) where !name.hasPrefix(".") {
      let path = folder + "/" + name
      guard let status = FileSystem.status(path) else { continue }
      switch status.kind {
      case .directory:
        guard isEntered(name), FileSystem.target(ofLink: path) == nil else { continue }
        // A folder that may not be read hides no other.
        do { try collect(path, depth: depth + 1, &files, &left) } catch let error as CoreDataError
          where error.kind == .unreadable
        {}
      case .file where isFile(name):
        guard files.count < fileLimit, status.size <= left else {
          throw CoreDataError(
            .unreadable, "there is too much Swift source to read", path: folder,
            hint: "Give the folder that the app's SwiftData classes are in.")
        }
        left -= status.size
        files.append(.init(path: path, bytes: try FileSystem.read(path, limit: status.size)))
      default: break
      }
    }
  }
}

extension ModelBundle {
  /// The versions that Swift source declares.
  init(_ models: SourceModels, name: String) {
    self.init(
      name: name,
      versions: models.versions.map { version in
        Version(
          name: version.name, path: version.place?.path ?? version.classes.first?.place.path ?? "",
          result: version.result)
      }, currentVersionName: models.currentName, warnings: models.remarks.map(\.description))
  }
}

extension SourceModels {
  /// That the containers have different schemas, with a way to name one; `nil` where they have one.
  package func containerSentence(path: String) -> String? {
    containerHint(path: path).map { "The containers of this source have different schemas. \($0)" }
  }

  private func containerHint(path: String) -> String? {
    guard containers.count > 1, let first = containers.first else { return nil }
    let list = containers.map { "“\($0.version)” (\($0.place))" }.joined(separator: ", ")
    return "They are \(list). Name one: \(path)@\(first.version)"
  }

  /// The version of that name, or the current one.
  ///
  /// - Throws: ``CoreDataError`` of kind usage for an unknown one, naming those there are.
  func chosen(_ name: String?, path: String) throws -> SourceVersion {
    let names = versions.map { "“\($0.name)”" }.joined(separator: ", ")
    guard let name else {
      guard let current else {
        throw CoreDataError(
          .usage,
          containers.count > 1
            ? "the containers of this source have different schemas"
            : "the source does not say which of its versions is current", path: path,
          hint: containerHint(path: path) ?? "Name one: \(path)@VERSION, of \(names)")
      }
      return current
    }
    guard let version = version(named: name) else {
      throw CoreDataError(
        .usage, "the Swift source has no version “\(name)”", path: path,
        hint: Nearest.hint(ofVersion: name, in: versions.map(\.name)))
    }
    return version
  }
}
