(* SPDX-License-Identifier: BSL-1.0 *)
(* The share word with each of its users, however many, in place of how many are where: what
   smt/share_word_proof.py takes for granted, that counts of who is where are enough. A thread is at a place;
   a step takes one thread, and leaves none, one or two in its stead. The moves have the names of the
   transitions there. Orders and lost wakes are not modelled. *)

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

(* What a thread at a place may do to the word; in whose stead it leaves whom; how often it frees. *)
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
| of_one_thread before after w p w' stead n f :
    move w p w' stead n ->
    step {| of_word := w; threads := before ++ p :: after; freed := f |}
         {| of_word := w'; threads := before ++ stead ++ after; freed := f + n |}.

Definition first :=
  {| of_word := {| owners := 1; copies := 0; waiting := false |}; threads := [owner]; freed := 0 |}.

Inductive reachable : state -> Prop :=
| at_first : reachable first
| by_a_step s s' : reachable s -> step s s' -> reachable s'.

(* Who is what. *)
Definition owns p :=
  match p with copier | restorer | freer => false | _ => true end.
Definition copies_out p := match p with copier | restorer => true | _ => false end.
Definition is_last p := match p with restorer => true | _ => false end.
Definition waits p :=
  match p with waiter | checker | sleeper | storer => true | _ => false end.
Definition is_alone p :=
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
Lemma who_is_last_copies l : count is_last l <= count copies_out l.
Proof. apply count_le; now intros []. Qed.
Lemma who_is_alone_owns l : count is_alone l <= count owns l.
Proof. apply count_le; now intros []. Qed.

Record invariant (s : state) : Prop := {
  owners_are_counted : owners (of_word s) = count owns (threads s);
  copies_are_counted : copies (of_word s) = count copies_out (threads s);
  the_bit_is_one_waiters : count waits (threads s) = if waiting (of_word s) then 1 else 0;
  who_is_last_is_last : count is_last (threads s) >= 1 -> owners (of_word s) = 0 /\ copies (of_word s) = 1;
  who_is_alone_is_alone : count is_alone (threads s) >= 1 -> sole (of_word s);
  nobody_frees_what_is_used :
    owners (of_word s) + copies (of_word s) >= 1 -> count frees (threads s) + freed s = 0;
  one_frees_what_is_not_used :
    owners (of_word s) + copies (of_word s) = 0 -> count frees (threads s) + freed s = 1 }.

Lemma invariant_at_first : invariant first.
Proof. split; unfold sole; simpl; lia. Qed.

Lemma invariant_is_kept s s' : invariant s -> step s s' -> invariant s'.
Proof.
  intros [counted_o counted_c bit last alone nobody one] taken.
  destruct taken as [before after w p w' stead n f moved].
  pose proof (waiters_own before); pose proof (waiters_own after).
  pose proof (who_is_last_copies before); pose proof (who_is_last_copies after).
  pose proof (who_is_alone_owns before); pose proof (who_is_alone_owns after).
  destruct w as [o c b].
  inversion moved; subst; clear moved; unfold sole, last_copy in *; simpl in *;
    repeat rewrite count_app in *; simpl in *; repeat rewrite count_app in *; simpl in *;
    split; unfold sole; simpl; repeat rewrite count_app; simpl; destruct b; try lia.
Qed.

Theorem invariant_always s : reachable s -> invariant s.
Proof. induction 1; eauto using invariant_at_first, invariant_is_kept. Qed.

(* I1, for any number of threads: nothing is freed twice, nor while anybody owns or copies it. *)
Theorem nothing_is_freed_twice s : reachable s -> freed s <= 1.
Proof.
  intros [_ _ _ _ _ nobody one]%invariant_always; lia.
Qed.

Theorem nothing_is_freed_that_is_used s :
  reachable s -> freed s >= 1 -> count owns (threads s) = 0 /\ count copies_out (threads s) = 0.
Proof.
  intros [counted_o counted_c _ _ _ nobody _]%invariant_always is_freed; lia.
Qed.

(* Nothing is left behind: where all threads have gone, it is freed. *)
Theorem who_leaves_last_frees s : reachable s -> threads s = [] -> freed s = 1.
Proof.
  intros [counted_o counted_c _ _ _ _ one]%invariant_always gone; rewrite gone in *; simpl in *; lia.
Qed.

(* I4, I7: beside a thread that writes in place nobody owns or copies; so of two writers none is beside. *)
Theorem who_writes_is_alone s before after :
  reachable s -> threads s = before ++ writer :: after ->
  count owns (before ++ after) = 0 /\ count copies_out (before ++ after) = 0.
Proof.
  intros [counted_o counted_c _ _ alone _ _]%invariant_always where_it_is.
  rewrite where_it_is in *; repeat rewrite count_app in *; simpl in *.
  destruct alone; lia.
Qed.

(* The store by which a waiter stops waiting is of the value that is there, but for the bit (I7). *)
Theorem who_stops_waiting_is_alone s before after :
  reachable s -> threads s = before ++ storer :: after -> sole (of_word s).
Proof.
  intros [_ _ _ _ alone _ _]%invariant_always where_it_is.
  apply alone; rewrite where_it_is, count_app; simpl; lia.
Qed.

(* Beside who found itself the last copier nobody owns or copies: it may change what the data is. *)
Theorem who_is_the_last_copier_is_alone s before after :
  reachable s -> threads s = before ++ restorer :: after ->
  count owns (before ++ after) = 0 /\ count copies_out (before ++ after) = 0.
Proof.
  intros [counted_o counted_c _ last _ _ _]%invariant_always where_it_is.
  rewrite where_it_is in *; repeat rewrite count_app in *; simpl in *.
  destruct last; lia.
Qed.

(* I3: at most one thread waits. *)
Theorem one_waits s : reachable s -> count waits (threads s) <= 1.
Proof.
  intros [_ _ bit _ _ _ _]%invariant_always; destruct (waiting (of_word s)); lia.
Qed.

(* I6: owners that each claim once, and may wait; of whom no copy fails, and nobody clones or drops. *)
Definition of_a_claim w p stead :=
  match p, stead with
  | owner, [writer] | owner, [waiter] | waiter, [checker] | waiter, [storer] | checker, [sleeper]
  | sleeper, [waiter] | storer, [writer] | copier, [] | copier, [freer] => True
  | owner, [copier] | waiter, [copier] => owners w > 1
  | _, _ => False
  end.
Definition begun p stead :=
  match p, stead with owner, [copier] | waiter, [copier] => 1 | _, _ => 0 end.

Definition all_own n :=
  {| of_word := {| owners := n; copies := 0; waiting := false |}; threads := repeat owner n; freed := 0 |}.

(* After claims of n owners that began so many copies. *)
Inductive claiming (n : nat) : state -> nat -> Prop :=
| nobody_has_claimed : n >= 1 -> claiming n (all_own n) 0
| by_a_claims_step before after w p w' stead copied :
    claiming n {| of_word := w; threads := before ++ p :: after; freed := 0 |} copied ->
    move w p w' stead 0 -> of_a_claim w p stead ->
    claiming n {| of_word := w'; threads := before ++ stead ++ after; freed := 0 |}
             (copied + begun p stead).

Lemma count_of_owners f n : count f (repeat owner n) = if f owner then n else 0.
Proof. induction n; simpl; destruct (f owner); lia. Qed.

Lemma all_claims_are_counted n s copied :
  claiming n s copied -> invariant s /\ owners (of_word s) + copied = n /\ owners (of_word s) >= 1.
Proof.
  induction 1 as [some|before after w p w' stead copied _ (kept & counted & left) moved its].
  - split; [|simpl; lia]. split; unfold sole; simpl; repeat rewrite count_of_owners; simpl; lia.
  - split.
    + apply (invariant_is_kept _ _ kept).
      replace 0 with (0 + 0) at 2 by lia; now constructor.
    + destruct kept as [owns_o _ bit _ alone _ _].
      inversion moved; subst; clear moved; unfold sole, last_copy in *; simpl in *; try contradiction;
        repeat rewrite count_app in *; simpl in *; try lia.
Qed.

Theorem of_n_claims_one_steals_and_the_others_copy n s copied :
  claiming n s copied -> Forall (eq writer) (threads s) -> threads s = [writer] /\ copied = n - 1.
Proof.
  intros (kept & counted & left)%all_claims_are_counted ended.
  destruct kept as [owns_o _ _ _ alone _ _].
  destruct (threads s) as [|p [|q rest]]; simpl in *; [lia| |].
  - inversion ended; subst; simpl in *; split; [easy|lia].
  - inversion ended as [|? ? one others]; inversion others; subst; simpl in *.
    unfold sole in alone; destruct alone; lia.
Qed.

Print Assumptions nothing_is_freed_twice.
Print Assumptions nothing_is_freed_that_is_used.
Print Assumptions who_leaves_last_frees.
Print Assumptions who_writes_is_alone.
Print Assumptions who_stops_waiting_is_alone.
Print Assumptions who_is_the_last_copier_is_alone.
Print Assumptions one_waits.
Print Assumptions of_n_claims_one_steals_and_the_others_copy.
