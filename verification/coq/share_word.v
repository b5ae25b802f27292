(* SPDX-License-Identifier: BSL-1.0 *)
(* The share word with a list of threads of any length. Each thread is at a place, that is, a control location.
   smt/share_word_proof.py only counts the threads at each place; this proof shows that counts are enough. A step
   replaces one thread by zero, one or two threads. The moves have the names of the transitions in
   share_word_proof.py. Memory orders and lost wakes are not modeled. *)

Require Import List Lia Arith Bool.
Import ListNotations.

Inductive place :=
  owner | writer | relier | leaver | waiter | checker | sleeper | storer | copier
| restorer | freer.

Record word := { owners : nat; copies : nat; waiting : bool }.

Definition sole (w : word) := owners w = 1 /\ copies w = 0.
Definition last_copy (w : word) := owners w = 0 /\ copies w = 1 /\ waiting w = false.

Definition with_owners n w := {| owners := n; copies := copies w; waiting := waiting w |}.
Definition with_copies n w := {| owners := owners w; copies := n; waiting := waiting w |}.
Definition with_waiting b w := {| owners := owners w; copies := copies w; waiting := b |}.
Definition claimed w := {| owners := owners w - 1; copies := copies w + 1; waiting := waiting w |}.
Definition finished w := {| owners := owners w; copies := copies w - 1; waiting := waiting w |}.
Definition abandoned w := {| owners := owners w + 1; copies := copies w - 1; waiting := waiting w |}.

(* A move of a thread: the word before, the place of the thread, the word after, the places of the threads that
   replace the thread, and how often the move frees the data. *)
Inductive move : word -> place -> word -> list place -> nat -> Prop :=
| add_owner w : move w owner (with_owners (owners w + 1) w) [owner; owner] 0
| drop_alone w : sole w -> move w owner w [leaver] 0
| drop_owner w : ~ sole w -> move w owner (with_owners (owners w - 1) w) [] 0
| drop_owner_the_last w : sole w -> move w owner (with_owners (owners w - 1) w) [freer] 0
| is_writable w : sole w -> waiting w = false -> move w owner w [writer] 0
| is_unique w : sole w -> move w owner w [relier] 0
| claim_steal w : sole w -> move w owner w [writer] 0
| claim_steal_after_a_wait w : sole w -> move w waiter w [storer] 0
| claim_stop_waiting w :
    move w storer {| owners := 1; copies := 0; waiting := false |} [writer] 0
| claim_copy w : ~ sole w -> owners w > 1 -> move w owner (claimed w) [copier] 0
| claim_copy_and_never_wait w : ~ sole w -> move w owner (claimed w) [copier] 0
| claim_copy_after_a_wait w :
    ~ sole w -> owners w > 1 -> move w waiter (with_waiting false (claimed w)) [copier] 0
| claim_announce_a_wait w :
    ~ sole w -> ~ owners w > 1 -> move w owner (with_waiting true w) [waiter] 0
| park_copies_are_pending w : owners w = 1 -> copies w <> 0 -> move w waiter w [checker] 0
| park_sleep w : move w checker w [sleeper] 0
| park_wake_up_spuriously w : move w sleeper w [waiter] 0
| finish_copy w : ~ last_copy w -> move w copier (finished w) [] 0
| finish_copy_the_last w : last_copy w -> move w copier (finished w) [freer] 0
| abandon_copy w : move w copier (abandoned w) [owner] 0
| is_sole_copier w : last_copy w -> move w copier w [restorer] 0
| end_of_being_the_last_copier w : move w restorer w [copier] 0
| add_copy w : move w copier (with_copies (copies w + 1) w) [copier; copier] 0
| end_of_a_write w : move w writer w [owner] 0
| end_of_being_alone w : move w relier w [owner] 0
| free w : move w freer w [] 1
| free_alone w : move w leaver (with_owners (owners w - 1) w) [] 1.

Record state := { of_word : word; threads : list place; freed : nat }.

Inductive step : state -> state -> Prop :=
| step_of_one_thread before after w p w' replacement n f :
    move w p w' replacement n ->
    step {| of_word := w; threads := before ++ p :: after; freed := f |}
         {| of_word := w'; threads := before ++ replacement ++ after; freed := f + n |}.

Definition first :=
  {| of_word := {| owners := 1; copies := 0; waiting := false |}; threads := [owner]; freed := 0 |}.

Inductive reachable : state -> Prop :=
| at_first : reachable first
| by_a_step s s' : reachable s -> step s s' -> reachable s'.

(* Predicates on places. *)
Definition owns p :=
  match p with copier | restorer | freer => false | _ => true end.
Definition copies_out p := match p with copier | restorer => true | _ => false end.
Definition is_last p := match p with restorer => true | _ => false end.
Definition waits p :=
  match p with waiter | checker | sleeper | storer => true | _ => false end.
Definition is_exclusive p :=
  match p with writer | relier | leaver | storer => true | _ => false end.
Definition frees p := match p with freer => true | _ => false end.

Fixpoint count (f : place -> bool) (l : list place) :=
  match l with [] => 0 | p :: rest => (if f p then 1 else 0) + count f rest end.

Lemma count_app f l l' : count f (l ++ l') = count f l + count f l'.
Proof. induction l; simpl; lia. Qed.

Lemma count_le f g l : (forall p, f p = true -> g p = true) -> count f l <= count g l.
Proof.
  intros covers; induction l as [|p l]; simpl; [lia|].
  specialize (covers p); destruct (f p), (g p); try lia; now discriminate covers.
Qed.

Lemma waiters_own l : count waits l <= count owns l.
Proof. apply count_le; now intros []. Qed.
Lemma last_copiers_copy l : count is_last l <= count copies_out l.
Proof. apply count_le; now intros []. Qed.
Lemma exclusive_threads_own l : count is_exclusive l <= count owns l.
Proof. apply count_le; now intros []. Qed.

Record invariant (s : state) : Prop := {
  owners_are_counted : owners (of_word s) = count owns (threads s);
  copies_are_counted : copies (of_word s) = count copies_out (threads s);
  the_bit_is_set_for_one_waiter : count waits (threads s) = if waiting (of_word s) then 1 else 0;
  a_last_copier_is_the_only_user : count is_last (threads s) >= 1 -> owners (of_word s) = 0 /\ copies (of_word s) = 1;
  an_exclusive_owner_is_the_only_user : count is_exclusive (threads s) >= 1 -> sole (of_word s);
  data_in_use_is_not_freed :
    owners (of_word s) + copies (of_word s) >= 1 -> count frees (threads s) + freed s = 0;
  unused_data_is_freed_once :
    owners (of_word s) + copies (of_word s) = 0 -> count frees (threads s) + freed s = 1 }.

Lemma invariant_at_first : invariant first.
Proof. split; unfold sole; simpl; lia. Qed.

Lemma invariant_is_kept s s' : invariant s -> step s s' -> invariant s'.
Proof.
  intros [counted_o counted_c bit last alone unused one] taken.
  destruct taken as [before after w p w' replacement n f moved].
  pose proof (waiters_own before); pose proof (waiters_own after).
  pose proof (last_copiers_copy before); pose proof (last_copiers_copy after).
  pose proof (exclusive_threads_own before); pose proof (exclusive_threads_own after).
  destruct w as [o c b].
  inversion moved; subst; clear moved; unfold sole, last_copy in *; simpl in *;
    repeat rewrite count_app in *; simpl in *; repeat rewrite count_app in *; simpl in *;
    split; unfold sole; simpl; repeat rewrite count_app; simpl; destruct b; try lia.
Qed.

Theorem invariant_always s : reachable s -> invariant s.
Proof. induction 1; eauto using invariant_at_first, invariant_is_kept. Qed.

(* I1, for any number of threads: data is not freed twice, and not while a thread owns or copies it. *)
Theorem data_is_not_freed_twice s : reachable s -> freed s <= 1.
Proof.
  intros [_ _ _ _ _ unused one]%invariant_always; lia.
Qed.

Theorem freed_data_is_not_in_use s :
  reachable s -> freed s >= 1 -> count owns (threads s) = 0 /\ count copies_out (threads s) = 0.
Proof.
  intros [counted_o counted_c _ _ _ unused _]%invariant_always is_freed; lia.
Qed.

(* I1: if no thread remains, the data has been freed once. *)
Theorem the_last_thread_frees s : reachable s -> threads s = [] -> freed s = 1.
Proof.
  intros [counted_o counted_c _ _ _ _ one]%invariant_always gone; rewrite gone in *; simpl in *; lia.
Qed.

(* I4, I7: while a thread writes in place, no other thread owns or copies the data. So there is at most one
   writer. *)
Theorem a_writer_is_the_only_user s before after :
  reachable s -> threads s = before ++ writer :: after ->
  count owns (before ++ after) = 0 /\ count copies_out (before ++ after) = 0.
Proof.
  intros [counted_o counted_c _ _ alone _ _]%invariant_always at_place.
  rewrite at_place in *; repeat rewrite count_app in *; simpl in *.
  destruct alone; lia.
Qed.

(* I7: the store by which a waiter stops waiting changes only the waiting bit. *)
Theorem a_storer_is_the_only_user s before after :
  reachable s -> threads s = before ++ storer :: after -> sole (of_word s).
Proof.
  intros [_ _ _ _ alone _ _]%invariant_always at_place.
  apply alone; rewrite at_place, count_app; simpl; lia.
Qed.

(* While a copier relies on being the last copier, no other thread owns or copies the data, so this copier may
   change the data. *)
Theorem a_restorer_is_the_only_user s before after :
  reachable s -> threads s = before ++ restorer :: after ->
  count owns (before ++ after) = 0 /\ count copies_out (before ++ after) = 0.
Proof.
  intros [counted_o counted_c _ last _ _ _]%invariant_always at_place.
  rewrite at_place in *; repeat rewrite count_app in *; simpl in *.
  destruct last; lia.
Qed.

(* I3: at most one thread waits. *)
Theorem at_most_one_thread_waits s : reachable s -> count waits (threads s) <= 1.
Proof.
  intros [_ _ bit _ _ _ _]%invariant_always; destruct (waiting (of_word s)); lia.
Qed.

(* I6: every owner claims once, and its claim may wait. No copy fails, and no thread clones or drops. *)
Definition belongs_to_a_claim w p replacement :=
  match p, replacement with
  | owner, [writer] | owner, [waiter] | waiter, [checker] | waiter, [storer] | checker, [sleeper]
  | sleeper, [waiter] | storer, [writer] | copier, [] | copier, [freer] => True
  | owner, [copier] | waiter, [copier] => owners w > 1
  | _, _ => False
  end.
Definition begun p replacement :=
  match p, replacement with owner, [copier] | waiter, [copier] => 1 | _, _ => 0 end.

Definition all_own n :=
  {| of_word := {| owners := n; copies := 0; waiting := false |}; threads := repeat owner n; freed := 0 |}.

(* States during the claims of n owners, with the number of copies begun so far. *)
Inductive claiming (n : nat) : state -> nat -> Prop :=
| no_claim_yet : n >= 1 -> claiming n (all_own n) 0
| by_a_claims_step before after w p w' replacement copied :
    claiming n {| of_word := w; threads := before ++ p :: after; freed := 0 |} copied ->
    move w p w' replacement 0 -> belongs_to_a_claim w p replacement ->
    claiming n {| of_word := w'; threads := before ++ replacement ++ after; freed := 0 |}
             (copied + begun p replacement).

Lemma count_of_owners f n : count f (repeat owner n) = if f owner then n else 0.
Proof. induction n; simpl; destruct (f owner); lia. Qed.

Lemma all_claims_are_counted n s copied :
  claiming n s copied -> invariant s /\ owners (of_word s) + copied = n /\ owners (of_word s) >= 1.
Proof.
  induction 1 as [some|before after w p w' replacement copied _ (kept & counted & remaining) moved its].
  - split; [|simpl; lia]. split; unfold sole; simpl; repeat rewrite count_of_owners; simpl; lia.
  - split.
    + apply (invariant_is_kept _ _ kept).
      replace 0 with (0 + 0) at 2 by lia; now constructor.
    + destruct kept as [owns_o _ bit _ alone _ _].
      inversion moved; subst; clear moved; unfold sole, last_copy in *; simpl in *; try contradiction;
        repeat rewrite count_app in *; simpl in *; try lia.
Qed.

Theorem one_of_n_claims_steals_and_the_others_copy n s copied :
  claiming n s copied -> Forall (eq writer) (threads s) -> threads s = [writer] /\ copied = n - 1.
Proof.
  intros (kept & counted & remaining)%all_claims_are_counted ended.
  destruct kept as [owns_o _ _ _ alone _ _].
  destruct (threads s) as [|p [|q rest]]; simpl in *; [lia| |].
  - inversion ended; subst; simpl in *; split; [easy|lia].
  - inversion ended as [|? ? one others]; inversion others; subst; simpl in *.
    unfold sole in alone; destruct alone; lia.
Qed.

Print Assumptions data_is_not_freed_twice.
Print Assumptions freed_data_is_not_in_use.
Print Assumptions the_last_thread_frees.
Print Assumptions a_writer_is_the_only_user.
Print Assumptions a_storer_is_the_only_user.
Print Assumptions a_restorer_is_the_only_user.
Print Assumptions at_most_one_thread_waits.
Print Assumptions one_of_n_claims_steals_and_the_others_copy.
