import Files
import ManagedModel
import Migration
import ModelSearch
import SwiftModels

/// The versions of one model as they are at a path, or as they were at the base.
struct LintedModel: Sendable {
  /// A version, with the places of its declarations.
  struct Version: Sendable {
    var name: String
    var model: Model
    var hashes: [String: VersionHash]
    /// The file that its places are in.
    var file: String
    var lines: ElementLines?
    /// The same version as Swift source has it.
    var source: SourceVersion?

    /// Whether an attribute of Swift source has a default that only the running app knows.
    func computesDefault(of attribute: String, _ entity: String) -> Bool {
      source?.type(of: entity)?.computedDefaults.contains(attribute) == true
    }

    /// Where an entity or a property is declared; where that is not known, where the version is.
    func place(of entity: String? = nil, _ property: String? = nil) -> LintPlace {
      let name = property.map { String($0.prefix { $0 != "." }) }
      let holder = entity.map { entity in
        name.flatMap { model.declaringEntity(of: $0, in: entity) } ?? entity
      }
      if let source {
        let found =
          holder.flatMap { holder in
            name.flatMap { source.place(of: holder, property: $0) } ?? source.place(of: holder)
          } ?? source.place ?? source.classes.first?.place
        return LintPlace(path: found?.path ?? file, line: found?.line)
      }
      return LintPlace(path: file, line: holder.flatMap { lines?.line(of: $0, name) })
    }
  }

  /// What holds the versions.
  enum Form: Sendable, Equatable {
    /// A .xcdatamodeld or .momd.
    case bundle
    /// A single .xcdatamodel or .mom.
    case single
    case source
  }

  var path: String
  var form: Form
  /// The oldest first; those that could not be read are left out.
  var versions: [Version]
  var currentName: String?
  var plan: SourcePlan?
  /// Comments in the source that begin with `strata:`.
  var comments: [SourceRemark] = []
  var unreadable: [CoreDataError] = []
  /// What was odd, as sentences.
  var notes: [String] = []
  /// Why the source does not say which version is the current one, as sentences.
  var undecided: String?

  var current: Version? { versions.first { $0.name == currentName } }

  /// The plan, where SwiftData goes through stages.
  var stagedPlan: SourcePlan? { plan.flatMap { $0.isStaged ? $0 : nil } }

  /// Whether the source names no version: what it was before is known by git or by stores only.
  var isUnversioned: Bool { form == .source && versions.allSatisfy { $0.source?.place == nil } }

  /// The file that says which version is the current one.
  var currentPlace: LintPlace {
    if let place = plan?.place { return LintPlace(path: place.path, line: place.line) }
    switch form {
    case .bundle:
      return LintPlace(
        path: path + (path.hasSuffix(".momd") ? "/VersionInfo.plist" : "/.xccurrentversion"))
    case .single: return current?.place() ?? LintPlace(path: path)
    case .source: return current?.place() ?? LintPlace(path: path)
    }
  }

  /// The versions in order, up to the current one.
  var upToCurrent: ArraySlice<Version> {
    guard let index = versions.firstIndex(where: { $0.name == currentName }) else {
      return versions[...]
    }
    return versions[...index]
  }

  /// Whether a version has exactly these hashes.
  func version(making hashes: [String: VersionHash]) -> Version? {
    versions.last { $0.hashes == hashes }
  }
}

extension LintedModel {
  /// Makes it of a bundle's files, or those of a single model.
  ///
  /// - Parameter files: paths within `path` to bytes; the empty path is that of a single file.
  init(path: String, files: [String: [UInt8]]) throws {
    self.path = path
    form = .bundle
    versions = []
    if let bytes = files[""] ?? (path.hasSuffix(".xcdatamodel") ? files["contents"] : nil) {
      form = .single
      let isArchive = bytes.starts(with: Array("bplist".utf8))
      let model = try isArchive ? Model(archive: bytes) : Model(contents: bytes)
      let name = FileSystem.stem(of: path)
      versions = [
        Version(
          name: name, model: model, hashes: model.versionHashes,
          file: files[""] == nil ? path + "/contents" : path,
          lines: isArchive ? nil : ElementLines(contents: bytes))
      ]
      currentName = name
      return
    }
    let bundle = try ModelBundle(
      name: FileSystem.stem(of: path), files: files.filter { ModelBundle.isRelevant($0.key) })
    notes = bundle.warnings
    currentName = bundle.currentVersionName
    for version in bundle.versions {
      do {
        let model = try version.model
        let isXML = version.path.hasSuffix("contents")
        versions.append(
          Version(
            name: version.name, model: model, hashes: model.versionHashes,
            file: path + "/" + version.path,
            lines: isXML ? files[version.path].map(ElementLines.init(contents:)) : nil))
      } catch {
        var error = error
        error.path = path + "/" + version.path
        unreadable.append(error)
      }
    }
    guard let current = currentName else { return }
    if !bundle.versions.contains(where: { $0.name == current }) {
      notes.append("the current version is “\(current)”, which does not exist")
    }
  }

  /// Makes it of Swift source.
  init(path: String, _ models: SourceModels) {
    self.path = path
    form = .source
    versions = []
    plan = models.plan
    currentName = models.currentName
    comments = models.notes
    notes = (models.remarks + models.versions.flatMap(\.remarks)).map(\.description)
    undecided = models.currentName == nil ? models.containerSentence(path: path) : nil
    for version in models.versions {
      do {
        let model = try version.model
        versions.append(
          Version(
            name: version.name, model: model, hashes: model.versionHashes,
            file: version.place?.path ?? version.classes.first?.place.path ?? path,
            source: version))
      } catch {
        unreadable.append(
          CoreDataError(error, or: .unreadable).at(path: version.place?.path ?? path))
      }
    }
  }
}

/// The lines on which the elements of a model's `contents` stand, by name.
///
/// The model itself keeps none: what is compared and hashed has no business with layout.
struct ElementLines: Sendable, Equatable {
  /// Line of each entity.
  private(set) var entities: [String: Int] = [:]
  /// Line of each property that an entity declares, by the entity.
  private(set) var properties: [String: [String: Int]] = [:]
  /// An element with the attribute `renamingIdentifier=`, which Xcode ignores.
  struct IgnoredIdentifier: Sendable, Equatable {
    var entity: String
    /// The property; `nil` for the entity itself.
    var property: String?
    var identifier: String
  }
  /// Elements with `renamingIdentifier=` and without `elementID=`, in their order.
  private(set) var ignoredIdentifiers: [IgnoredIdentifier] = []
  /// Entities that Xcode marked for CloudKit, by a configuration's name; the empty one stands for all.
  private(set) var cloudKit: Set<String> = []

  /// Reads the lines; of bytes that are no XML those up to where it breaks.
  init(contents bytes: [UInt8]) {
    let collected = Collected()
    try? XMLReader.read(bytes) { collected.take($0, line: $1.line) }
    self = collected.lines
  }

  /// The line of an entity, or of a property of it.
  func line(of entity: String, _ property: String?) -> Int? {
    property.flatMap { properties[entity]?[$0] } ?? entities[entity]
  }

  private final class Collected {
    var lines = ElementLines()
    private var path: [String] = []
    private var entity: String?

    private func note(_ value: (String) -> String?, of entity: String, _ property: String?) {
      guard value("elementID") == nil, let identifier = value("renamingIdentifier") else { return }
      lines.ignoredIdentifiers.append(
        IgnoredIdentifier(entity: entity, property: property, identifier: identifier))
    }

    func take(_ event: XMLReader.Event, line: Int) {
      switch event {
      case .start(let tag, let attributes):
        defer { path.append(tag) }
        func value(_ key: String) -> String? { attributes.first { $0.name == key }?.value }
        let name = value("name")
        switch (path.last, tag) {
        case (nil, "model") where value("usedWithCloudKit") == "YES": lines.cloudKit.insert("")
        case ("model", "configuration") where value("usedWithCloudKit") == "YES":
          if let name { lines.cloudKit.insert(name) }
        case ("model", "entity"):
          entity = name
          if let name {
            lines.entities[name] = line
            note(value, of: name, nil)
          }
        case ("entity", "attribute"), ("entity", "relationship"), ("entity", "fetchedProperty"):
          if let entity, let name {
            lines.properties[entity, default: [:]][name] = line
            note(value, of: entity, name)
          }
        default: break
        }
      case .end: if !path.isEmpty { path.removeLast() }
      case .text: break
      }
    }
  }

  private init() {}
}
