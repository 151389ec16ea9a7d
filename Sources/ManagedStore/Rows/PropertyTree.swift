/// The columns of an object as its model has them: a composite attribute holds its elements.
///
/// Made once for the columns of many rows; a node shows the places of its values.
public struct PropertyTree: Sendable, Equatable {
  /// A property, or an element of a composite attribute.
  public indirect enum Node: Sendable, Equatable {
    /// One with a value: its own name, and its place among the columns.
    case column(name: String, index: Int)
    /// A composite attribute, or one within another.
    case composite(name: String, nodes: [Node])

    /// Its own name, without those of the composites around it.
    public var name: String {
      switch self {
      case .column(let name, _), .composite(let name, _): name
      }
    }

    /// The places of all its values.
    public var indices: [Int] {
      switch self {
      case .column(_, let index): [index]
      case .composite(_, let nodes): nodes.flatMap(\.indices)
      }
    }

    /// Whether it has no value: a composite has none where none of its elements has one.
    public func isNull(in values: [PropertyValue]) -> Bool {
      switch self {
      case .column(_, let index):
        guard values.indices.contains(index) else { return true }
        return switch values[index] {
        case .value(.null), .toOne(nil): true
        default: false
        }
      case .composite(_, let nodes): return nodes.allSatisfy { $0.isNull(in: values) }
      }
    }
  }

  /// In the order of the columns; a composite stands where the first of its elements does.
  public let nodes: [Node]

  /// - Parameter paths: one a column, from the property's name down to the element's.
  public init(_ paths: [[String]]) {
    nodes = Self.nodes(paths.enumerated().map { ($0.offset, $0.element[...]) })
  }

  private static func nodes(_ columns: [(index: Int, path: ArraySlice<String>)]) -> [Node] {
    var nodes: [Node] = []
    var inner: [(name: String, columns: [(index: Int, path: ArraySlice<String>)])] = []
    var places: [Int: Int] = [:]
    for (index, path) in columns {
      guard let name = path.first else { continue }
      guard path.count > 1 else {
        nodes.append(.column(name: name, index: index))
        continue
      }
      if let known = inner.firstIndex(where: { $0.name == name }) {
        inner[known].columns.append((index, path.dropFirst()))
      } else {
        places[inner.count] = nodes.count
        inner.append((name, [(index, path.dropFirst())]))
        nodes.append(.composite(name: name, nodes: []))
      }
    }
    for (number, composite) in inner.enumerated() {
      guard let place = places[number] else { continue }
      nodes[place] = .composite(name: composite.name, nodes: Self.nodes(composite.columns))
    }
    return nodes
  }
}
