// What a Relay application would hold: a page that is refetched with the arguments of its connection.
import { graphql } from 'react-relay';

graphql`
  query MemoriesPageQuery($ceiling: Sensitivity!) {
    viewer {
      scopes
    }
    ...MemoriesPage_memories @arguments(ceiling: $ceiling)
  }
`;

graphql`
  fragment MemoriesPage_memories on Query
  @argumentDefinitions(
    ceiling: { type: "Sensitivity!" }
    count: { type: "Int", defaultValue: 2 }
    cursor: { type: "String" }
  )
  @refetchable(queryName: "MemoriesPagePaginationQuery") {
    memories(ceiling: $ceiling, first: $count, after: $cursor) @connection(key: "MemoriesPage_memories") {
      edges {
        node {
          id
          statement
          createdAt
          conflictsWithMemories {
            id
            statement
          }
        }
      }
    }
  }
`;

graphql`
  mutation MemoriesPageReviewMutation($input: ReviewMemoryInput!) {
    reviewMemory(input: $input) {
      memory {
        id
        status
        flaggedForReview
      }
    }
  }
`;
