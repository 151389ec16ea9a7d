/// Where a person has put the lines between panes; `nil` where they lie as they come.
package struct Dividers: Codable, Sendable, Equatable {
  /// Columns of Browse's tree.
  package var tree: Int?
  /// Rows of Browse's inspector.
  package var inspector: Int?
  /// Rows of Diff's lower pane.
  package var meaning: Int?
  /// Columns of Mapping's list, and rows of its lower pane.
  package var mappings: Int?
  package var problems: Int?

  package init() {}
}
