import ManagedModel

/// A container of the program that keeps its store, and the version that its schema is.
public struct SourceContainer: Sendable, Equatable {
  /// Name of the version.
  public var version: String
  /// Where the program makes the container.
  public var place: SourcePlace
}

extension SchemaReader {
  /// What one container, or a schema for one, lists.
  struct Listing {
    /// Places of the classes; empty where it names a version.
    var listed: [Int]
    /// Name of the VersionedSchema.
    var version: String?
    var place: SourcePlace
  }

  /// What the containers list whose stores are kept; without a container in these files, what the
  /// schemas list that they write down.
  mutating func listings(_ files: [SwiftFile], _ schemas: [Schema]) -> [Listing] {
    let kept = files.flatMap { file in
      file.containers.containers.filter { !$0.isInMemory }.map { (use: $0, file: file) }
    }
    let found = kept.compactMap {
      listing(of: $0.use.content, $0.use.line, $0.file, files, schemas)
    }
    let hasContainer = files.contains { !$0.containers.containers.isEmpty }
    guard found.isEmpty, !hasContainer || !kept.isEmpty else { return found }
    return files.flatMap { file in
      file.containers.schemas.compactMap { listing(of: $0.content, $0.line, file, files, schemas) }
    }
  }

  private mutating func listing(
    of content: ContainerContent, _ line: Int, _ file: SwiftFile, _ files: [SwiftFile],
    _ schemas: [Schema]
  ) -> Listing? {
    let place = SourcePlace(path: file.path, line: line)
    switch content {
    case .version(let names):
      return name(of: names, schemas).map { Listing(listed: [], version: $0, place: place) }
    case .variable(let variable):
      // The same file's declaration goes before that of any other.
      let holders = [file] + files.filter { $0.path != file.path }
      for holder in holders {
        let uses = holder.containers.schemas.filter { $0.variable == variable }
        if let use = uses.last(where: { holder.path != file.path || $0.line <= line }) ?? uses.first
        {
          return listing(of: use.content, line, file, [], schemas)
        }
      }
      return nil
    case .types(let types):
      var listed: [Int] = []
      for names in types {
        guard case .entry(let found) = table.meaning(of: names, in: []),
          table.entries[found].declaration.isModel
        else {
          remark(
            place,
            "the container lists \(names.joined(separator: ".")), which is not a @Model class in these"
              + " files")
          continue
        }
        if !listed.contains(found) { listed.append(found) }
      }
      return listed.isEmpty ? nil : Listing(listed: listed, version: nil, place: place)
    }
  }

  /// Every class with `@Model`.
  var classes: [Int] { table.entries.indices.filter { table.entries[$0].declaration.isModel } }
}
