//! The stories of `tests/scenarios`, one test each folder's file, run over the wire.
//!
//! A story that is not in the list below, or a name without a story, fails the last test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;

use toolgate_tests::scenario;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scenarios")
}

async fn check(name: &str) {
    let path = folder().join(format!("{}.md", name.replace('_', "-")));
    if let Err(wrong) = scenario::run(&path).await {
        panic!("{name}: {wrong}");
    }
}

macro_rules! stories {
    ($($name:ident)+) => {
        $(#[tokio::test]
        async fn $name() {
            check(stringify!($name)).await;
        })+

        #[test]
        fn every_story_is_told() {
            let mut listed = vec![$(stringify!($name).replace('_', "-") + ".md"),+];
            let entries = std::fs::read_dir(folder()).unwrap().flatten();
            let mut there: Vec<String> = entries
                .map(|entry| entry.file_name().to_string_lossy().into_owned())
                .collect();
            listed.sort();
            there.sort();
            assert_eq!(listed, there);
        }
    };
}

stories! {
    parallel_reads
    one_hunk_rejected_in_an_unsaved_buffer
    refused_with_a_word
    edit_without_read
    outside_change_is_told_then_edited
    buffer_changed_while_asked
    other_lines_typed_while_asked
    text_that_occurs_twice
    crlf
    bom
    unknown_tool
    broken_json
    path_that_is_an_array
    cancelled_command
    read_and_edit_in_one_answer
    read_and_write_in_one_answer
    disk_changed_while_asked
    command_does_not_see_unsaved_edits
    reject_and_stop
    answer_cut_in_the_middle
}
